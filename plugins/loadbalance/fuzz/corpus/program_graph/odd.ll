%0 = type { i32 }
%pair = type { i32, %pair*, [2 x %0] }
@t = global [2 x i8*] [i8* blockaddress(@f, %c), i8* null]
@al = alias i32, i32* @x
@x = global i32 3
define spir_kernel void @f(i32 %x, [2 x %0]* %q, %pair** %p) {
a:
  switch i32 %x, label %b [ i32 1, label %c
                            i32 2, label %c ]
b:
  store i32 %x, i32* @al
  %v = load i32, i32* @x
  %s = shufflevector <4 x i32> undef, <4 x i32> zeroinitializer, <4 x i32> <i32 3, i32 2, i32 undef, i32 0>
  indirectbr i8* blockaddress(@f, %c), [label %c]
c:
  %l = load [2 x %0], [2 x %0]* %q
  %m = load %pair*, %pair** %p
  %n = load %pair, %pair* %m
  unreachable
d:
  br label %d
}
