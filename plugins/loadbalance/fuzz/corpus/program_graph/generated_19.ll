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
declare i32 @f1(i8, float)
declare %node* @f2(i1)
declare i32 @__gxx_personality_v0(...)
declare i32 @printf(i8*, ...)
declare float @llvm.fabs.f32(float)
define i16 @f0(i1 %a0, i32 %a1, i32* %a2, i32** %a3) {
b0:
  %v0 = insertvalue %pair zeroinitializer, double 2.5e-01, 1
  %v1 = fmul double 2.5e-01, 2.5e-01
  %v2 = alloca float
  %v3 = icmp slt i32 32, %a1
  %v4 = load i32, i32* @other
  switch i32 %a1, label %b1 [ i32 3, label %b2 i32 6, label %b2 ]
b1:
  %v5 = phi float [ undef, %b0 ]
  %v6 = phi float [ 2.5e-01, %b0 ]
  store double %v1, double* null
  %v7 = zext i16 24 to i64
  %v8 = call i32 (i8*, ...) @printf(i8* getelementptr inbounds ([4 x i8], [4 x i8]* @text, i64 0, i64 0), i32 %a1)
  %v9 = call i32 (i8*, ...) @printf(i8* getelementptr inbounds ([4 x i8], [4 x i8]* @text, i64 0, i64 0), i32 %v4)
  %v10 = getelementptr inbounds i32, i32* %a2, i64 %v7
  %v11 = insertvalue %pair zeroinitializer, double 1.0, 1
  %v12 = inttoptr i64 %v7 to i32 (i32)*
  %v13 = call i32 %v12(i32 %v8)
  %v14 = call i16 @f0(i1 %v3, i32 %v4, i32* %v10, i32** %a3)
  %v15 = load i64, i64* null
  ret i16 %v14
b2:
  %v16 = phi i32 [ 36, %b0 ], [ 36, %b0 ], [ 98, %b2 ]
  %v17 = atomicrmw add i32* %a2, i32 92 seq_cst
  %v18 = select i1 false, i1 %a0, i1 %v3
  %v19 = call float @llvm.fabs.f32(float 1.0)
  %v20 = lshr i16 undef, 9
  %v21 = icmp slt i32 %v4, %v17
  %v22 = getelementptr inbounds i32, i32* @counter, i64 47
  %v23 = call i32 @f1(i8 75, float %v19)
  %v24 = load i32, i32* %a2
  %v25 = srem i64 54, 21
  br i1 %v21, label %b2, label %b3
b3:
  store i32 %v4, i32* @other
  %v26 = load i32, i32* %a2
  store i32 12, i32* %a2
  %v27 = shufflevector <4 x float> zeroinitializer, <4 x float> zeroinitializer, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %v28 = inttoptr i64 55 to i32 (i32)*
  %v29 = call i32 %v28(i32 %v26)
  store i32 %a1, i32* getelementptr inbounds ([8 x i32], [8 x i32]* @table, i64 0, i64 2)
  %v30 = extractvalue %pair zeroinitializer, 0
  unreachable
}
