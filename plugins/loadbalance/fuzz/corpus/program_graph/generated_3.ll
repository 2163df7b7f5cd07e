source_filename = "generated.c"
target triple = "x86_64-unknown-linux-gnu"
%pair = type { i32, double }
%node = type { i32, %node*, [4 x %pair] }
%opaque = type opaque
@counter = global i32 0
@table = internal constant [8 x i32] zeroinitializer
@text = private unnamed_addr constant [4 x i8] c"%d\0A\00"
@head = external global %node
declare void @f1(%node*, { i32, float }, double)
declare i32 @__gxx_personality_v0(...)
declare i32 @printf(i8*, ...)
declare float @llvm.fabs.f32(float)
define i32 @f0(double** %a0, i32* %a1, %node* %a2, i64 %a3) {
b0:
  %v0 = insertvalue %pair zeroinitializer, double 1.0, 1
  %v1 = inttoptr i64 %a3 to i32 (i32)*
  %v2 = call i32 %v1(i32 27)
  %v3 = insertvalue %pair zeroinitializer, double 1.0, 1
  %v4 = getelementptr %node, %node* null, i64 0, i32 2, i64 %a3, i32 1
  ret i32 %v2
}
define void @f2(double* %a0, [2 x %pair] %a1) {
b0:
  %v0 = load i32, i32* undef
  %v1 = alloca i32, i32 %v0
  unreachable
b1:
  store i32 24, i32* %v1
  %v2 = atomicrmw add i32* %v1, i32 %v0 seq_cst
  ret void
b2:
  %v3 = select i1 false, i8 90, i8 12
  call void @f1(%node* null, { i32, float } zeroinitializer, double 2.5e-01)
  %v4 = zext i8 %v3 to i16
  br label %b3
b3:
  %v5 = phi i16 [ undef, %b2 ]
  fence seq_cst
  %v6 = alloca i32**
  %v7 = select i1 true, double 1.0, double undef
  %v8 = select i1 false, double %v7, double %v7
  %v9 = select i1 false, i1 true, i1 false
  store i32 %v0, i32* %v1
  ret void
b4:
  %v10 = phi i16 [ 78, %b6 ], [ 78, %b6 ]
  call void @f2(double* null, [2 x %pair] %a1)
  store i32 %v0, i32* %v1
  ret void
b5:
  %v11 = extractelement <4 x float> zeroinitializer, i32 %v0
  store i32 45, i32* null
  %v12 = cmpxchg i32* %v1, i32 %v0, i32 %v0 acq_rel monotonic
  %v13 = trunc i32 %v0 to i8
  %v14 = mul i64 69, 47
  %v15 = extractvalue %pair zeroinitializer, 0
  %v16 = icmp slt i16 98, 72
  %v17 = insertvalue %pair zeroinitializer, double 2.5e-01, 1
  ret void
b6:
  %v18 = fcmp olt float 2.5e-01, 2.5e-01
  fence seq_cst
  switch i32 %v0, label %b2 [ i32 3, label %b4 i32 6, label %b4 i32 9, label %b2 ]
}
