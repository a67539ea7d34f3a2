import { isCurrency } from '../../../src/engine/money/currency.ts';
import { centsOf, exponentIn } from '../../parts/cents.ts';
import { FieldInput } from '../../parts/field.tsx';
import { t } from '../../texts/en.ts';
import type { DraftThreshold } from './draft.ts';

const words = t.plans.editor;

/** Amounts of usage at which an invoice is made before the period ends. */
export function ThresholdsEditor({
  thresholds,
  currency,
  onChange,
}: {
  thresholds: readonly DraftThreshold[];
  currency: string;
  onChange: (thresholds: DraftThreshold[]) => void;
}) {
  const set = (key: string, changes: Partial<DraftThreshold>) =>
    onChange(thresholds.map((each) => (each.key === key ? { ...each, ...changes } : each)));
  return (
    <>
      {thresholds.map(({ key, amount, name, recurring }) => (
        <div class="card padded basics charge" key={key}>
          <FieldInput
            field={{ name: `${key}-amount`, label: words.thresholdAmount, type: 'number' }}
            value={amount}
            fault={isCurrency(currency) && !centsOf(amount, exponentIn(currency)) ? words.amountNeeded : undefined}
            onInput={(text) => set(key, { amount: text })}
          />
          <FieldInput
            field={{ name: `${key}-name`, label: words.displayName }}
            value={name}
            onInput={(text) => set(key, { name: text })}
          />
          <FieldInput
            field={{ name: `${key}-recurring`, label: words.everyTime, type: 'checkbox' }}
            value={String(recurring)}
            onInput={(text) => set(key, { recurring: text === 'true' })}
          />
          <button type="button" class="quiet" onClick={() => onChange(thresholds.filter((each) => each.key !== key))}>
            {words.removeThreshold}
          </button>
        </div>
      ))}
      <p class="bar">
        <button
          type="button"
          onClick={() =>
            onChange([...thresholds, { key: crypto.randomUUID(), amount: '', name: '', recurring: false }])
          }
        >
          {words.addThreshold}
        </button>
        {thresholds.length === 0 && <span class="soft">{words.noThresholds}</span>}
      </p>
    </>
  );
}
