import { searchOf } from '../frame/route.ts';
import type { Option } from './combobox.tsx';

/** Where a field that names a record finds it. */
export interface Source {
  /** The resource that the key must read; without it the field is a text. */
  needs: string;
  /** The list of the API, for what is typed; a list without a search is read whole. */
  pathOf: (typed: string) => string;
  optionsOf: (answer: never) => Option[];
}

const FOUND_AT_ONCE = 20;
/** As many as a list of the API gives at once. */
const MOST_LISTED = 100;

const search = (path: string) => (typed: string) =>
  `${path}${searchOf({ search_term: typed, per_page: FOUND_AT_ONCE, count: 'none' })}`;

interface Named {
  svc_id: string;
  code: string;
  name: string;
}

const byCode = ({ code, name }: Named): Option => ({ value: code, text: name, note: code });

export const customers: Source = {
  needs: 'customer',
  pathOf: search('/customers'),
  optionsOf: ({
    customers: found,
  }: {
    customers: { external_id: string; name: string | null; legal_name: string | null }[];
  }) =>
    found.map(({ external_id, name, legal_name }) => ({
      value: external_id,
      text: name || legal_name || external_id,
      note: name || legal_name ? external_id : undefined,
    })),
};

export const subscriptions: Source = {
  needs: 'subscription',
  pathOf: search('/subscriptions'),
  optionsOf: ({
    subscriptions: found,
  }: {
    subscriptions: { external_id: string; name: string | null; external_customer_id: string; plan_code: string }[];
  }) =>
    found.map(({ external_id, name, external_customer_id, plan_code }) => ({
      value: external_id,
      text: name || `${external_customer_id}, ${plan_code}`,
      note: external_id,
    })),
};

export const plans: Source = {
  needs: 'plan',
  pathOf: search('/plans'),
  optionsOf: ({ plans: found }: { plans: Named[] }) => found.map(byCode),
};

export const metrics: Source = {
  needs: 'billable_metric',
  pathOf: search('/billable_metrics'),
  optionsOf: ({ billable_metrics: found }: { billable_metrics: Named[] }) => found.map(byCode),
};

/** Charges name their metric by the id of the service. */
export const metricsById: Source = {
  ...metrics,
  optionsOf: ({ billable_metrics: found }: { billable_metrics: Named[] }) =>
    found.map(({ svc_id, code, name }) => ({ value: svc_id, text: name, note: code })),
};

export const coupons: Source = {
  needs: 'coupon',
  pathOf: () => `/coupons?per_page=${MOST_LISTED}`,
  optionsOf: ({ coupons: found }: { coupons: (Named & { status: string })[] }) =>
    found.filter(({ status }) => status === 'active').map(byCode),
};

export const taxes: Source = {
  needs: 'tax',
  pathOf: () => `/taxes?per_page=${MOST_LISTED}`,
  optionsOf: ({ taxes: found }: { taxes: (Named & { rate: number })[] }) =>
    found.map(({ code, name, rate }) => ({ value: code, text: `${name}, ${rate} %`, note: code })),
};
