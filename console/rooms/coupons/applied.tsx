import type { Filters } from '../../frame/route.ts';
import { to } from '../../frame/route.ts';
import { decimal, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { CustomerLink } from '../../parts/customer-names.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Offers } from '../../parts/offers.tsx';
import type { Column } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { takesCoupon } from './offers.ts';
import type { AppliedCoupon } from './records.ts';

const words = t.coupons;

/** Who has the coupon, or which coupons a customer has; the other of the two is the first column. */
export function AppliedCoupons({ filters, by }: { filters: Filters; by: 'customer' | 'coupon' }) {
  const first: Column<AppliedCoupon> =
    by === 'customer'
      ? {
          head: words.customer,
          cell: ({ external_customer_id: id }) => <CustomerLink id={id} tab="coupons" />,
        }
      : {
          head: words.coupon,
          cell: ({ coupon_code, coupon_name }) => <a href={to('coupons', coupon_code)}>{coupon_name}</a>,
        };
  return (
    <Listing<AppliedCoupon>
      path="/applied_coupons"
      root="applied_coupons"
      filters={filters}
      label={words.applied}
      customerOf={({ external_customer_id }) => (by === 'customer' ? external_customer_id : null)}
      columns={[
        first,
        { head: words.state, cell: ({ status }) => <Badge of={status} /> },
        { head: words.worth, cell: worthOf, isNumber: true },
        { head: words.left, cell: leftOf, isNumber: true, isExtra: true },
        { head: words.since, cell: ({ created_at }) => <When at={created_at} />, isExtra: true },
        { head: t.page.do, cell: (applied) => <Offers isSmall of={[takesCoupon(applied)]} /> },
      ]}
      empty={{
        title: words.noneApplied,
        children: <p class="soft">{words.noneAppliedHint}</p>,
      }}
    />
  );
}

const worthOf = ({ percentage_rate, amount_cents, amount_currency }: AppliedCoupon): string =>
  percentage_rate === null ? money(amount_cents, amount_currency) : `${decimal(percentage_rate)} %`;

const leftOf = ({ frequency, amount_cents_remaining, amount_currency, frequency_duration_remaining }: AppliedCoupon) =>
  frequency === 'once'
    ? money(amount_cents_remaining, amount_currency)
    : frequency === 'forever'
      ? words.forever
      : words.periodsLeft(frequency_duration_remaining ?? 0);
