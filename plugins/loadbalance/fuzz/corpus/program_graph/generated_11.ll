source_filename = "generated.c"
target triple = "x86_64-unknown-linux-gnu"
%pair = type { i32, double }
%node = type { i32, %node*, [4 x %pair] }
%opaque = type opaque
@counter = global i32 0
@table = internal constant [8 x i32] zeroinitializer
@text = private unnamed_addr constant [4 x i8] c"%d\0A\00"
@head = external global %node
declare i32 @__gxx_personality_v0(...)
declare i32 @printf(i8*, ...)
declare float @llvm.fabs.f32(float)
define i16 @f0() personality i32 (...)* @__gxx_personality_v0 {
b0:
  %v0 = inttoptr i64 84 to i32 (i32)*
  %v1 = call i32 %v0(i32 68)
  %v2 = getelementptr inbounds i32, i32* @counter, i64 97
  %v3 = icmp slt i32 83, 28
  %v4 = alloca double
  %v5 = and i32 %v1, %v1
  %v6 = load i1, i1* null
  %v7 = invoke i16 @f0() to label %b1 unwind label %h0
b1:
  %v8 = phi double [ 1.0, %b0 ], [ 2.5e-01, %b1 ]
  %v9 = phi i1 [ %v6, %b0 ], [ %v6, %b1 ]
  %v10 = getelementptr %node, %node* null, i64 0, i32 2, i64 0, i32 1
  %v11 = insertvalue %pair zeroinitializer, double undef, 1
  %v12 = select i1 %v3, i16 65, i16 85
  %v13 = icmp slt i8 undef, 6
  %v14 = insertelement <4 x float> zeroinitializer, float 1.0, i32 3
  br label %b1
h0:
  %p0 = landingpad { i8*, i32 }
          cleanup
  resume { i8*, i32 } %p0
}
