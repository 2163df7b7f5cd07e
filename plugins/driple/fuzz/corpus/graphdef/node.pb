

aConst^b: