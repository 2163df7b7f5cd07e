; A loop with a call, in the syntax of LLVM 8, which has no type behind byval.
%pair = type { i32, float }

declare float @llvm.fabs.f32(float)

define spir_kernel void @sum(float* %x, i32 %n, %pair* byval align 4 %start) {
entry:
  %place = getelementptr inbounds %pair, %pair* %start, i64 0, i32 1
  %first = load float, float* %place, align 4
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %total = phi float [ %first, %entry ], [ %more, %loop ]
  %index = sext i32 %i to i64
  %at = getelementptr inbounds float, float* %x, i64 %index
  %value = load float, float* %at, align 4
  %size = call float @llvm.fabs.f32(float %value)
  %more = fadd float %total, %size
  %next = add nsw i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done

done:
  store float %more, float* %x, align 4
  ret void
}
