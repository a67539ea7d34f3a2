import { useSignal } from '@preact/signals';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { money } from '../../parts/amounts.ts';
import { Chart } from '../../parts/chart.tsx';
import { t } from '../../texts/en.ts';
import { calculate, curve, isUnits } from './calculate.ts';

/** What a usage costs under a charge, priced in the browser by the code of the invoice. */
export function Calculator({
  model,
  properties,
  currency,
  id,
}: {
  model: ChargeModelName;
  properties: Record<string, unknown>;
  currency: string;
  id: string;
}) {
  const units = useSignal('1000');
  const events = useSignal('1');
  if (model === 'dynamic' || model === 'custom') return <p class="soft">{t.plans.dynamicNoCalculator}</p>;
  const charge = { model, properties, currency };
  const eventsCount = /^\d{1,9}$/.test(events.value) ? Number(events.value) : 1;
  const priced = calculate(charge, units.value, eventsCount);
  const drawn = priced ? curve(charge, units.value) : undefined;
  return (
    <div class="calculator">
      <div class="bar">
        <label for={`${id}-units`}>{model.includes('percentage') ? t.plans.amountOf : t.plans.units}</label>
        <input
          id={`${id}-units`}
          inputMode="decimal"
          value={units.value}
          aria-invalid={!isUnits(units.value)}
          onInput={(event) => {
            units.value = event.currentTarget.value.trim();
          }}
        />
        {model === 'percentage' && (
          <>
            <label for={`${id}-events`}>{t.plans.inEvents}</label>
            <input
              id={`${id}-events`}
              inputMode="numeric"
              value={events.value}
              onInput={(event) => {
                events.value = event.currentTarget.value.trim();
              }}
            />
          </>
        )}
        <output for={`${id}-units`}>
          {priced ? (
            <>
              {t.plans.cost}
              <b>{money(priced.amountCents, currency)}</b>
              {Number(priced.preciseAmountCents) !== priced.amountCents && (
                <span class="soft">
                  {' '}
                  ({priced.preciseAmountCents}
                  {t.plans.beforeRounding}
                </span>
              )}
            </>
          ) : (
            <span class="soft">{t.plans.calculatorIncomplete}</span>
          )}
        </output>
      </div>
      {drawn && drawn.units.length > 0 && (
        <Chart
          title={t.plans.calculatorTitle}
          xs={drawn.units}
          isTime={false}
          series={[{ label: t.plans.amount, values: drawn.cents }]}
          format={(cents) => money(Math.round(cents), currency)}
        />
      )}
    </div>
  );
}
