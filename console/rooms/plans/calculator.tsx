import { useSignal } from '@preact/signals';
import { exponentOf, isCurrency } from '../../../src/engine/money/currency.ts';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { money, price } from '../../parts/amounts.ts';
import { Chart } from '../../parts/chart.tsx';
import { Table } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import { calculate, curve, isUnits } from './calculate.ts';
import { rangeStarts, type Share, sharesOf } from './shares.ts';

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
  if (model === 'custom') return <p class="soft">{t.plans.noCalculator}</p>;
  const isDynamic = model === 'dynamic';
  const charge = { model, properties, currency };
  const eventsCount = /^\d{1,9}$/.test(events.value) ? Number(events.value) : 1;
  const priced = isDynamic ? calculate(charge, '1', 1, units.value) : calculate(charge, units.value, eventsCount);
  const drawn = priced && !isDynamic ? curve(charge, units.value) : undefined;
  const shares = priced ? sharesOf(model, priced, currency) : [];
  const marks = rangeStarts(model, properties);
  return (
    <div class="calculator">
      <div class="bar">
        <label for={`${id}-units`}>{figureName(model, String(properties.amount_currency || currency))}</label>
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
      {shares.length > 0 && <Shares of={shares} />}
      {drawn && drawn.units.length > 0 && (
        <div class="columns">
          <Chart
            title={t.plans.calculatorTitle}
            xs={drawn.units}
            isTime={false}
            marks={marks}
            series={[{ label: t.plans.amount, values: drawn.cents }]}
            format={(cents) => money(Math.round(cents), currency)}
          />
          {shares.length > 0 && (
            <Chart
              title={t.plans.averageTitle}
              xs={drawn.units.slice(1)}
              isTime={false}
              marks={marks}
              series={[{ label: t.plans.unitPrice, values: averagesOf(drawn) }]}
              format={(cents) => averageWords(cents, currency)}
            />
          )}
        </div>
      )}
    </div>
  );
}

/** Only drawn, and therefore a float: cents of one unit at each step but the first, where there is none. */
const averagesOf = ({ units, cents }: { units: number[]; cents: number[] }): number[] =>
  units.slice(1).map((each, index) => cents[index + 1]! / each);

const SHOWN_DIGITS = 6;

/** A price of one unit on an axis, in the main unit. */
function averageWords(cents: number, currency: string): string {
  const exponent = isCurrency(currency) ? exponentOf(currency) : 2;
  return price((cents / 10 ** exponent).toFixed(SHOWN_DIGITS), currency);
}

function Shares({ of }: { of: readonly Share[] }) {
  return (
    <div class="shares">
      <Table
        label={t.plans.sharesTitle}
        rows={of}
        keyOf={({ part }) => part}
        columns={[
          { head: t.plans.part, cell: ({ part }) => part },
          { head: t.plans.units, cell: ({ units }) => units, isNumber: true },
          { head: t.plans.amount, cell: ({ amount }) => amount, isNumber: true },
        ]}
      />
    </div>
  );
}

function figureName(model: ChargeModelName, currency: string): string {
  if (model === 'dynamic') return t.plans.dynamicAmount(currency);
  return model.includes('percentage') ? t.plans.amountOf : t.plans.units;
}
