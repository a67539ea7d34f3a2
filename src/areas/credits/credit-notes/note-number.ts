/** Number of a note: `ACM-001-002-CN001`. Rule: credit-notes.md#other-effects. */
export const noteNumber = (invoiceNumber: string, sequentialId: number): string =>
  `${invoiceNumber}-CN${String(sequentialId).padStart(3, '0')}`;
