export interface Bar {
  label: string;
  value: number;
  text: string;
  tone?: 'bad' | 'good' | undefined;
}

/** Parts of a whole as bars with their amounts; each is a row that also readers without colours can tell. */
export function Bars({ of, label }: { of: readonly Bar[]; label: string }) {
  const most = Math.max(1, ...of.map(({ value }) => Math.abs(value)));
  return (
    <table class="bars">
      <caption class="unseen">{label}</caption>
      <tbody>
        {of.map((bar) => (
          <tr key={bar.label}>
            <th scope="row">{bar.label}</th>
            <td class="track">
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect
                  class={bar.tone ?? ''}
                  width={((Math.abs(bar.value) / most) * 100).toFixed(2)}
                  height="8"
                  rx="1"
                />
              </svg>
            </td>
            <td class="number">{bar.text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
