import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { FieldInput } from '../../parts/field.tsx';
import { Empty } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { faultsOf } from './calculate.ts';
import { type DraftFixedCharge, propertiesFor } from './draft.ts';
import { RangeTable } from './range-table.tsx';

const words = t.plans.editor;

const MODELS = [
  ['standard', words.modelStandard],
  ['graduated', words.modelGraduated],
  ['volume', words.modelVolume],
] as const;

/** What is billed each period for a number of units, whatever is used. */
export function FixedChargesEditor({
  charges,
  onChange,
}: {
  charges: readonly DraftFixedCharge[];
  onChange: (charges: DraftFixedCharge[]) => void;
}) {
  const addOns = useRead<{ add_ons: { code: string; name: string }[] }>('/add_ons?per_page=100');
  const options = (addOns.data?.add_ons ?? []).map(({ code, name }) => [code, name] as const);
  const set = (key: string, changes: Partial<DraftFixedCharge>) =>
    onChange(charges.map((each) => (each.key === key ? { ...each, ...changes } : each)));
  const add = () =>
    onChange([
      ...charges,
      {
        key: crypto.randomUUID(),
        addOnCode: options[0]![0],
        model: 'standard',
        units: '1',
        properties: propertiesFor('standard'),
        payInAdvance: false,
        prorated: false,
      },
    ]);
  return (
    <>
      {charges.map((charge) => {
        const ranges = charge.model === 'graduated' ? 'graduated_ranges' : 'volume_ranges';
        const faults = faultsOf(charge.model, charge.properties);
        return (
          <div class="card padded charge" key={charge.key}>
            <div class="basics">
              <FieldInput
                field={{
                  name: `${charge.key}-add-on`,
                  label: words.addOn,
                  type: 'select',
                  options: charge.svc_id === undefined ? options : [[charge.addOnCode, charge.addOnCode]],
                }}
                value={charge.addOnCode}
                onInput={(addOnCode) => set(charge.key, { addOnCode })}
              />
              <FieldInput
                field={{ name: `${charge.key}-units`, label: words.units, type: 'number' }}
                value={charge.units}
                onInput={(units) => set(charge.key, { units })}
              />
              <FieldInput
                field={{ name: `${charge.key}-model`, label: words.price, type: 'select', options: MODELS }}
                value={charge.model}
                onInput={(text) => {
                  const model = text as ChargeModelName;
                  set(charge.key, { model, properties: propertiesFor(model) });
                }}
              />
              {charge.model === 'standard' && (
                <FieldInput
                  field={{ name: `${charge.key}-amount`, label: words.priceOfUnit, type: 'number' }}
                  value={String(charge.properties.amount ?? '')}
                  onInput={(amount) => set(charge.key, { properties: { amount } })}
                />
              )}
              <FieldInput
                field={{ name: `${charge.key}-advance`, label: words.inAdvance, type: 'checkbox' }}
                value={String(charge.payInAdvance)}
                onInput={(text) => set(charge.key, { payInAdvance: text === 'true' })}
              />
              <FieldInput
                field={{ name: `${charge.key}-prorated`, label: words.prorated, type: 'checkbox' }}
                value={String(charge.prorated)}
                onInput={(text) => set(charge.key, { prorated: text === 'true' })}
              />
            </div>
            {charge.model !== 'standard' && (
              <RangeTable
                rows={(charge.properties[ranges] as Record<string, unknown>[] | undefined) ?? []}
                valueKey="per_unit_amount"
                valueLabel={words.priceOfUnit}
                onChange={(rows) => set(charge.key, { properties: { [ranges]: rows } })}
              />
            )}
            {faults.length > 0 && (
              <p class="fault">{words.incomplete(faults.map((code) => code.replaceAll('_', ' ')).join(', '))}</p>
            )}
            <p>
              <button
                type="button"
                class="quiet"
                onClick={() => onChange(charges.filter(({ key }) => key !== charge.key))}
              >
                {words.removeFixed}
              </button>
            </p>
          </div>
        );
      })}
      {charges.length === 0 && (
        <Empty title={words.noFixed}>
          <p class="soft">{options.length === 0 ? words.noAddOns : words.noFixedHint}</p>
          {options.length === 0 && <a href={to('add-ons')}>{words.makeAddOn}</a>}
        </Empty>
      )}
      {options.length > 0 && (
        <p class="bar">
          <button type="button" onClick={add}>
            {words.addFixed}
          </button>
        </p>
      )}
    </>
  );
}
