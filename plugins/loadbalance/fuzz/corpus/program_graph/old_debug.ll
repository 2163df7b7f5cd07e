define void @f(i32 %x) !dbg !4 {
  call void @llvm.dbg.value(metadata i32 %x, i64 0, metadata !8, metadata !DIExpression()), !dbg !9
  tail call void @llvm.dbg.value(metadata i32 %x, i64 0, metadata !8, metadata !DIExpression())
  ret void, !dbg !9
}
declare void @llvm.dbg.value(metadata, i64, metadata, metadata)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!opencl.kernels = !{!5}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, subprograms: !2)
!1 = !DIFile(filename: "x.c", directory: "/")
!2 = !{!4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, variables: !2)
!5 = !{void (i32)* @f}
!8 = !DILocalVariable(name: "x", arg: 1, scope: !4)
!9 = !DILocation(line: 1, column: 1, scope: !4)
