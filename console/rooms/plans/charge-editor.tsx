import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { FieldInput } from '../../parts/field.tsx';
import { metricsById } from '../../parts/sources.ts';
import { t } from '../../texts/en.ts';
import { faultsOf } from './calculate.ts';
import { Calculator } from './calculator.tsx';
import { type DraftCharge, propertiesFor } from './draft.ts';
import { RangeTable } from './range-table.tsx';
import { type Metric, MODELS } from './records.ts';

const TEXTS: Partial<Record<ChargeModelName, readonly (readonly [key: string, label: string, isWhole?: true])[]>> = {
  standard: [['amount', t.plans.unitPrice]],
  package: [
    ['amount', t.plans.packagePrice],
    ['package_size', t.plans.packageSize, true],
    ['free_units', t.plans.freeUnits, true],
  ],
  percentage: [
    ['rate', t.plans.percent],
    ['fixed_amount', t.plans.fixedPerEvent],
    ['free_units_per_events', t.plans.freeEvents, true],
    ['free_units_per_total_aggregation', t.plans.freeAmount],
    ['per_transaction_min_amount', t.plans.leastPerEvent],
    ['per_transaction_max_amount', t.plans.mostPerEvent],
  ],
};

const RANGES: Partial<Record<ChargeModelName, readonly [key: string, value: string, label: string]>> = {
  graduated: ['graduated_ranges', 'per_unit_amount', t.plans.unitPrice],
  volume: ['volume_ranges', 'per_unit_amount', t.plans.unitPrice],
  graduated_percentage: ['graduated_percentage_ranges', 'rate', t.plans.percent],
};

/** One charge: metric, model and prices, with the calculator beside them. */
export function ChargeEditor({
  charge,
  metrics,
  currency,
  onChange,
  onRemove,
}: {
  charge: DraftCharge;
  metrics: readonly Metric[];
  currency: string;
  onChange: (charge: DraftCharge) => void;
  onRemove: () => void;
}) {
  const { key, model, properties } = charge;
  const set = (changes: Record<string, unknown>) => {
    const next = Object.entries({ ...properties, ...changes }).filter(([, value]) => value !== undefined);
    onChange({ ...charge, properties: Object.fromEntries(next) });
  };
  const faults = faultsOf(model, properties);
  const ranges = RANGES[model];
  return (
    <div class="card padded charge">
      <div class="basics">
        <FieldInput
          field={{
            name: `${key}-metric`,
            label: t.plans.metric,
            from: metricsById,
            called: metrics.find(({ svc_id }) => svc_id === charge.metricId)?.name ?? charge.metricCode,
          }}
          value={charge.metricId}
          onInput={(metricId) => onChange({ ...charge, metricId })}
        />
        <FieldInput
          field={{ name: `${key}-model`, label: t.plans.price, type: 'select', options: MODELS }}
          value={model}
          onInput={(text) => {
            const chosen = text as ChargeModelName;
            onChange({ ...charge, model: chosen, properties: propertiesFor(chosen) });
          }}
        />
        {(TEXTS[model] ?? []).map(([name, label, isWhole]) => (
          <FieldInput
            key={name}
            field={{ name: `${key}-${name}`, label, type: 'number' }}
            value={String(properties[name] ?? '')}
            onInput={(text) =>
              set({
                [name]:
                  text === '' && model === 'percentage' && name !== 'rate'
                    ? undefined
                    : isWhole && /^\d{1,15}$/.test(text)
                      ? Number(text)
                      : text,
              })
            }
          />
        ))}
      </div>
      {ranges && (
        <RangeTable
          rows={(properties[ranges[0]] as Record<string, unknown>[] | undefined) ?? []}
          valueKey={ranges[1]}
          valueLabel={ranges[2]}
          onChange={(rows) => set({ [ranges[0]]: rows })}
        />
      )}
      {faults.length > 0 && (
        <p class="fault">
          {t.plans.notComplete}
          {faults.map((code) => code.replaceAll('_', ' ')).join(', ')}
        </p>
      )}
      <Calculator id={key} model={model} properties={properties} currency={currency} />
      <p>
        <button type="button" class="quiet" onClick={onRemove}>
          {t.plans.removeCharge}
        </button>
      </p>
    </div>
  );
}
