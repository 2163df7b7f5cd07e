; Functions without a pointer: both readers must build the same graph of them.
define i32 @collatz(i32 %start) {
entry:
  br label %loop

loop:
  %value = phi i32 [ %start, %entry ], [ %next, %turn ]
  %steps = phi i32 [ 0, %entry ], [ %more, %turn ]
  %done = icmp eq i32 %value, 1
  br i1 %done, label %exit, label %turn

turn:
  %odd = and i32 %value, 1
  %is_odd = icmp eq i32 %odd, 1
  %half = lshr i32 %value, 1
  %triple = mul nuw nsw i32 %value, 3
  %up = add nuw nsw i32 %triple, 1
  %next = select i1 %is_odd, i32 %up, i32 %half
  %more = add nuw nsw i32 %steps, 1
  br label %loop

exit:
  ret i32 %steps
}

define double @classes(i32 %kind, double %x) {
  switch i32 %kind, label %other [
    i32 0, label %zero
    i32 7, label %zero
    i32 9, label %root
  ]

zero:
  ret double 0.000000e+00

root:
  %negative = fneg double %x
  %r = call double @llvm.sqrt.f64(double %negative)
  ret double %r

other:
  %steps = call i32 @collatz(i32 %kind)
  %wide = sitofp i32 %steps to double
  %sum = fadd double %wide, %x
  ret double %sum
}

define <4 x float> @lanes(<4 x float> %a, <4 x float> %b, float %s) {
  %mixed = shufflevector <4 x float> %a, <4 x float> %b, <4 x i32> <i32 0, i32 5, i32 2, i32 7>
  %set = insertelement <4 x float> %mixed, float %s, i32 3
  %twice = fmul <4 x float> %set, <float 2.0, float 2.0, float 2.0, float 2.0>
  ret <4 x float> %twice
}

define { i32, i1 } @checked(i32 %a) {
  %pair = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %a, i32 %a)
  %sum = extractvalue { i32, i1 } %pair, 0
  %out = insertvalue { i32, i1 } %pair, i32 %sum, 0
  ret { i32, i1 } %out
}

declare double @llvm.sqrt.f64(double)

declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
