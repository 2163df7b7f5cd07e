%s = type { i32, %s* }
define spir_kernel void @f(%s* noalias sret %r, %s addrspace(1)* byval align 4 %x, { i8, [2 x i32] }* byval %y) {
  call void @g(%s* sret %r, void (i8*)* byval null, %"a,(b"* byval null)
  ret void
}
%"a,(b" = type { i8 }
declare void @g(%s* sret, void (i8*)* byval, %"a,(b"* byval)
