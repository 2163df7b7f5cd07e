source_filename = "generated.c"
target triple = "x86_64-unknown-linux-gnu"
%pair = type { i32, double }
%node = type { i32, %node*, [4 x %pair] }
%opaque = type opaque
@counter = global i32 0
@table = internal constant [8 x i32] zeroinitializer
@text = private unnamed_addr constant [4 x i8] c"%d\0A\00"
@head = external global %node
@other = alias i32, i32* @counter
declare i32 @__gxx_personality_v0(...)
declare i32 @printf(i8*, ...)
declare float @llvm.fabs.f32(float)
define i32 @f0(float %a0, i32 %a1, double %a2, { i32, float } %a3) {
b0:
  %v0 = select i1 false, i16 97, i16 15
  %v1 = fdiv float %a0, %a0
  %v2 = cmpxchg i32* getelementptr inbounds ([8 x i32], [8 x i32]* @table, i64 0, i64 7), i32 %a1, i32 %a1 acq_rel monotonic
  %v3 = icmp slt i32 %a1, %a1
  call void bitcast (i32 (float, i32, double, { i32, float })* @f0 to void ()*)()
  %v4 = udiv i16 %v0, %v0
  br i1 false, label %b2, label %b1
b1:
  %v5 = phi float [ 2.5e-01, %b0 ]
  %v6 = extractelement <4 x float> zeroinitializer, i32 %a1
  %v7 = cmpxchg i32* null, i32 16, i32 %a1 acq_rel monotonic
  %v8 = load i16, i16* null
  %v9 = insertvalue %pair zeroinitializer, double %a2, 1
  %v10 = icmp slt i64 65, 7
  ret i32 undef
b2:
  %v11 = call i32 @f0(float %a0, i32 79, double %a2, { i32, float } %a3)
  br i1 undef, label %b3, label %b4
b3:
  %v12 = getelementptr inbounds i32, i32* getelementptr inbounds ([8 x i32], [8 x i32]* @table, i64 0, i64 5), i64 48
  %v13 = zext i1 %v3 to i8
  %v14 = select i1 %v3, i8 45, i8 %v13
  %v15 = insertelement <4 x float> zeroinitializer, float %v1, i32 1
  br i1 %v3, label %b2, label %b2
b4:
  %v16 = extractvalue %pair zeroinitializer, 0
  %v17 = select i1 %v3, i1 true, i1 %v3
  %v18 = add i1 true, %v3
  switch i32 %v16, label %b2 [ i32 3, label %b4 i32 6, label %b2 i32 9, label %b3 i32 12, label %b4 i32 15, label %b3 ]
}
