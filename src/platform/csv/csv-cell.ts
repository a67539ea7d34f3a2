/** What ends a line (RFC 4180). */
export const CSV_LINE_END = '\r\n';

/** A text of a customer in a CSV file, escaped so that no spreadsheet reads it as a formula; null is empty. */
export function csvCell(text: string | null): string {
  if (text === null) return '';
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
