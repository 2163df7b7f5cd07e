%body = type { float, i32 }

@table = external global [8 x i32]

define void @move(ptr addrspace(1) %data, ptr %bodies, ptr %rows, i64 %n) {
entry:
  %cell = alloca i32, align 4
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %done, label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds float, ptr addrspace(1) %data, i64 %i
  %value = load float, ptr addrspace(1) %from, align 4
  %to = getelementptr inbounds %body, ptr %bodies, i64 %i, i32 0
  store float %value, ptr %to, align 4
  %row = load ptr, ptr %rows, align 8
  %first = load i32, ptr %row, align 4
  store i32 %first, ptr %cell, align 4
  %slot = getelementptr inbounds [8 x i32], ptr @table, i64 0, i64 %i
  store i32 %first, ptr %slot, align 4
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret void
}
