/** A simulated instant moved by whole hours, days, weeks or months in UTC; a day that the month lacks becomes its last one. */
export function moved(at: string, by: { hours?: number; days?: number; months?: number }): string {
  const from = new Date(at);
  const { hours = 0, days = 0, months = 0 } = by;
  const first = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const date = Math.min(from.getUTCDate(), last) + days;
  const result = new Date(
    Date.UTC(
      first.getUTCFullYear(),
      first.getUTCMonth(),
      date,
      from.getUTCHours() + hours,
      from.getUTCMinutes(),
      from.getUTCSeconds(),
    ),
  );
  return result.toISOString().replace('.000Z', 'Z');
}
