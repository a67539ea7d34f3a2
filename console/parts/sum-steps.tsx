import { money } from './amounts.ts';

export interface SumStep {
  text: string;
  cents: number;
  isTotal?: boolean;
}

/** The way from one amount to another, one row a step. */
export function SumSteps({ of, currency }: { of: readonly SumStep[]; currency: string }) {
  return (
    <table class="sum-steps">
      <tbody>
        {of.map(({ text, cents, isTotal }) => (
          <tr key={text} class={isTotal ? 'total' : ''}>
            <td>{text}</td>
            <td class="number">{money(cents, currency)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
