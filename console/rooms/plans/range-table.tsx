import { t } from '../../texts/en.ts';

type Row = Record<string, unknown>;

/** Ranges of units: each begins behind the one before, and the last is open. */
export function RangeTable({
  rows,
  valueKey,
  valueLabel,
  onChange,
}: {
  rows: readonly Row[];
  valueKey: string;
  valueLabel: string;
  onChange: (rows: Row[]) => void;
}) {
  const last = rows.length - 1;
  const set = (index: number, changes: Row) =>
    onChange(chained(rows.map((row, at) => (at === index ? { ...row, ...changes } : row))));
  const add = () => {
    const end = Number(rows[last]?.from_value ?? 0) + 1000;
    const closed = rows.map((row, at) => (at === last ? { ...row, to_value: end } : row));
    onChange(chained([...closed, { from_value: 0, to_value: null, [valueKey]: '', flat_amount: '0' }]));
  };
  return (
    <div class="ranges-scroll">
      <table class="ranges">
        <thead>
          <tr>
            <th scope="col">{t.plans.from}</th>
            <th scope="col">{t.plans.to}</th>
            <th scope="col">{valueLabel}</th>
            <th scope="col">{t.plans.flatHead}</th>
            <th scope="col">
              <span class="unseen">{t.plans.remove}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              <td>{String(row.from_value)}</td>
              <td>
                {index === last ? (
                  <span class="soft">{t.plans.rangeOpen}</span>
                ) : (
                  <input
                    aria-label={t.plans.rangeToLabel(index + 1)}
                    inputMode="numeric"
                    value={String(row.to_value ?? '')}
                    onInput={({ currentTarget: { value } }) =>
                      set(index, { to_value: /^\d{1,15}$/.test(value) ? Number(value) : value })
                    }
                  />
                )}
              </td>
              <td>
                <input
                  aria-label={t.plans.rangePriceLabel(index + 1, valueLabel)}
                  inputMode="decimal"
                  value={String(row[valueKey] ?? '')}
                  onInput={({ currentTarget: { value } }) => set(index, { [valueKey]: value })}
                />
              </td>
              <td>
                <input
                  aria-label={t.plans.rangeFlatLabel(index + 1)}
                  inputMode="decimal"
                  value={String(row.flat_amount ?? '')}
                  onInput={({ currentTarget: { value } }) => set(index, { flat_amount: value })}
                />
              </td>
              <td>
                {rows.length > 1 && (
                  <button
                    type="button"
                    class="icon"
                    aria-label={t.plans.removeRange(index + 1)}
                    onClick={() => onChange(chained(rows.filter((_, at) => at !== index)))}
                  >
                    ✕
                  </button>
                )}
              </td>
            </tr>
          ))}
          <tr>
            <td colSpan={5}>
              <button type="button" class="small" onClick={add}>
                {t.plans.addRange}
              </button>
            </td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

/** "From" follows from the row before; the last row is open. */
function chained(rows: readonly Row[]): Row[] {
  return rows.map((row, index) => ({
    ...row,
    from_value: index === 0 ? 0 : Number(rows[index - 1]!.to_value) + 1,
    to_value: index === rows.length - 1 ? null : row.to_value,
  }));
}
