; A kernel with opaque pointers, as compilers write it since LLVM 15.
target triple = "spir64-unknown-unknown"

define spir_kernel void @scale(ptr addrspace(1) %data, float %factor, i64 %count) {
entry:
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %inside = icmp ult i64 %id, %count
  br i1 %inside, label %work, label %done

work:
  %place = getelementptr inbounds float, ptr addrspace(1) %data, i64 %id
  %value = load float, ptr addrspace(1) %place, align 4
  %product = fmul float %value, %factor
  store float %product, ptr addrspace(1) %place, align 4
  br label %done

done:
  ret void
}

declare spir_func i64 @_Z13get_global_idj(i32)
