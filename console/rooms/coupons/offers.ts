import { go, to } from '../../frame/route.ts';
import { fieldAmount, typedCents } from '../../parts/cents.ts';
import type { Offer } from '../../parts/offers.tsx';
import { currencies } from '../../parts/places.ts';
import { coupons, customers } from '../../parts/sources.ts';
import { t } from '../../texts/en.ts';
import type { AppliedCoupon, Coupon } from './records.ts';

const words = t.coupons;

const fieldsOf = (coupon?: Coupon) => [
  { name: 'name', label: words.name, value: coupon?.name ?? '', isNeeded: true },
  { name: 'code', label: words.code, value: coupon?.code ?? '', isNeeded: true },
  { name: 'description', label: words.description, value: coupon?.description ?? '' },
  {
    name: 'coupon_type',
    label: words.kind,
    type: 'select' as const,
    value: coupon?.coupon_type ?? 'fixed_amount',
    options: [
      ['fixed_amount', words.fixedAmount],
      ['percentage', words.percentage],
    ] as const,
  },
  {
    name: 'worth',
    label: words.worth,
    type: 'number' as const,
    isNeeded: true,
    hint: words.worthHint,
    value:
      coupon?.coupon_type === 'percentage'
        ? String(coupon.percentage_rate ?? '')
        : coupon?.amount_cents
          ? fieldAmount(coupon.amount_cents, coupon.amount_currency ?? 'USD')
          : '',
  },
  {
    name: 'amount_currency',
    label: words.currency,
    value: coupon?.amount_currency ?? '',
    hint: words.currencyHint,
    choices: currencies,
  },
  {
    name: 'frequency',
    label: words.frequency,
    type: 'select' as const,
    value: coupon?.frequency ?? 'once',
    options: [
      ['once', words.once],
      ['recurring', words.recurring],
      ['forever', words.forever],
    ] as const,
  },
  {
    name: 'frequency_duration',
    label: words.periods,
    type: 'number' as const,
    value: String(coupon?.frequency_duration ?? ''),
    hint: words.periodsHint,
  },
  {
    name: 'expiration_at',
    label: words.expires,
    type: 'date' as const,
    value: coupon?.expiration_at?.slice(0, 10) ?? '',
  },
];

function bodyOf(values: Record<string, string>) {
  const {
    worth = '',
    coupon_type,
    amount_currency: currency = '',
    frequency,
    frequency_duration = '',
    expiration_at,
  } = values;
  const isPercentage = coupon_type === 'percentage';
  return {
    name: values.name,
    code: values.code,
    description: values.description || null,
    coupon_type,
    ...(isPercentage
      ? { percentage_rate: worth }
      : { amount_cents: typedCents(worth, currency), amount_currency: currency }),
    frequency,
    ...(frequency === 'recurring'
      ? { frequency_duration: /^\d{1,9}$/.test(frequency_duration) ? Number(frequency_duration) : frequency_duration }
      : {}),
    ...(expiration_at
      ? { expiration: 'time_limit', expiration_at: `${expiration_at}T23:59:59Z` }
      : { expiration: 'no_expiration' }),
  };
}

export const makesCoupon = (): Offer => ({
  text: words.new,
  submit: words.create,
  needs: 'coupon',
  isMain: true,
  fields: fieldsOf(),
  command: (values) => ({ method: 'POST', path: '/coupons', body: { coupon: bodyOf(values) } }),
  onDone: (answer) => {
    const made = (answer as { coupon?: Coupon }).coupon;
    if (made) go(to('coupons', made.code));
  },
});

export const editsCoupon = (coupon: Coupon): Offer => ({
  text: t.page.edit,
  title: words.edit,
  submit: t.page.save,
  needs: 'coupon',
  fields: fieldsOf(coupon),
  stored: {
    path: `/coupons/${encodeURIComponent(coupon.code)}`,
    valuesOf: ({ coupon: now }: { coupon: Coupon }) =>
      Object.fromEntries(fieldsOf(now).map(({ name, value }) => [name, value])),
  },
  command: (values) => ({
    method: 'PUT',
    path: `/coupons/${encodeURIComponent(coupon.code)}`,
    body: { coupon: bodyOf(values) },
  }),
});

export const deletesCoupon = ({ code }: Coupon): Offer => ({
  text: t.page.delete,
  title: words.delete,
  needs: 'coupon',
  typed: code,
  about: words.deleteAbout,
  command: () => ({ method: 'DELETE', path: `/coupons/${encodeURIComponent(code)}` }),
  onDone: () => go(to('coupons')),
});

/** Gives a coupon to a customer; whichever of the two is not known yet is asked for. */
export const appliesCoupon = (given: { code?: string; customerId?: string }): Offer => ({
  text: words.apply,
  needs: 'applied_coupon',
  isMain: given.customerId === undefined,
  about: words.applyAbout,
  fields: [
    ...(given.code === undefined ? [{ name: 'coupon_code', label: words.coupon, isNeeded: true, from: coupons }] : []),
    ...(given.customerId === undefined
      ? [{ name: 'external_customer_id', label: words.customer, isNeeded: true, from: customers }]
      : []),
  ],
  command: ({ coupon_code, external_customer_id }) => ({
    method: 'POST',
    path: '/applied_coupons',
    body: {
      applied_coupon: {
        external_customer_id: given.customerId ?? external_customer_id,
        coupon_code: given.code ?? coupon_code,
      },
    },
  }),
});

export const takesCoupon = ({ svc_id, external_customer_id, coupon_name, status }: AppliedCoupon): Offer | false =>
  status === 'active' && {
    text: words.take,
    title: words.takeTitle(coupon_name),
    needs: 'applied_coupon',
    about: words.takeAbout,
    command: () => ({
      method: 'DELETE',
      path: `/customers/${encodeURIComponent(external_customer_id)}/applied_coupons/${svc_id}`,
    }),
  };
