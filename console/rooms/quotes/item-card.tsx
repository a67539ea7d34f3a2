import { money } from '../../parts/amounts.ts';
import { productCents, typedCents } from '../../parts/cents.ts';
import { type Field, FieldInput } from '../../parts/field.tsx';
import { t } from '../../texts/en.ts';
import type { Catalog, DraftItem, Sold } from './draft.ts';

const words = t.quotes.editor;

/** The fields of a part, beside what it is a part of. */
const FIELDS: Record<DraftItem['kind'], readonly Omit<Field, 'value'>[]> = {
  plans: [
    { name: 'subscriptionExternalId', label: words.subscriptionId, hint: words.subscriptionIdHint },
    { name: 'subscriptionName', label: words.subscriptionName },
    {
      name: 'billingTime',
      label: words.billingTime,
      type: 'select',
      options: [
        ['calendar', words.calendar],
        ['anniversary', words.anniversary],
      ],
    },
    { name: 'startDate', label: words.startDate, type: 'date', hint: words.startDateHint },
    { name: 'endDate', label: words.endDate, type: 'date' },
  ],
  addOns: [
    { name: 'units', label: words.units, type: 'number' },
    { name: 'unitAmount', label: words.unitAmount, type: 'number' },
  ],
  coupons: [],
  walletCredits: [
    { name: 'paidCredits', label: words.paidCredits, type: 'number' },
    { name: 'grantedCredits', label: words.grantedCredits, type: 'number' },
    { name: 'rateAmount', label: words.rate, type: 'number' },
    { name: 'name', label: words.walletName },
  ],
};

/** Of a change of a subscription: it has its id, and goes on. */
const OF_NEW = ['subscriptionExternalId', 'subscriptionName', 'billingTime'];

/** One part of an offer: a plan, an add-on, a coupon or credits, with its terms. */
export function ItemCard({
  item,
  catalog,
  currency,
  isAmendment,
  amountOf,
  onChange,
  onRemove,
}: {
  item: DraftItem;
  catalog: Catalog;
  currency: string;
  isAmendment: boolean;
  amountOf: (sold: Sold) => string;
  onChange: (item: DraftItem) => void;
  onRemove: () => void;
}) {
  const { key, kind, id, terms } = item;
  const list = kind === 'walletCredits' ? [] : catalog[kind];
  const fields = FIELDS[kind].filter(({ name }) => !isAmendment || !OF_NEW.includes(name));
  const unit = typedCents(terms.unitAmount ?? '', currency);
  const total = kind === 'addOns' && typeof unit === 'number' ? productCents(terms.units ?? '', unit) : undefined;
  return (
    <div class="card padded charge">
      <div class="basics">
        {kind !== 'walletCredits' && (
          <FieldInput
            field={{
              name: `${key}-what`,
              label: words.kinds[kind]!,
              choices: () => list.map(({ svc_id, name, code }) => ({ value: svc_id, text: name, note: code })),
            }}
            value={id}
            onInput={(chosen) => {
              const sold = list.find(({ svc_id }) => svc_id === chosen);
              const price = kind === 'addOns' && sold ? amountOf(sold) : undefined;
              onChange({
                ...item,
                id: chosen,
                terms: price === undefined ? terms : { ...terms, unitAmount: price },
              });
            }}
          />
        )}
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={{ ...field, name: `${key}-${field.name}` }}
            value={terms[field.name] ?? ''}
            onInput={(text) => onChange({ ...item, terms: { ...terms, [field.name]: text } })}
          />
        ))}
      </div>
      <p class="bar after">
        <button type="button" class="quiet" onClick={onRemove}>
          {words.remove(words.kinds[kind]!)}
        </button>
        {total !== undefined && (
          <span class="end">
            {words.sum} <b>{money(total, currency)}</b>
          </span>
        )}
      </p>
    </div>
  );
}
