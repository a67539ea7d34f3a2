import { route, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { decimal, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { AppliedCoupons } from './applied.tsx';
import { appliesCoupon, deletesCoupon, editsCoupon, makesCoupon } from './offers.ts';
import type { Coupon } from './records.ts';

const words = t.coupons;

export default function Coupons() {
  const { id } = route.value;
  return id === undefined ? <List /> : <CouponPage key={id} code={id} />;
}

const worthOf = ({ coupon_type, percentage_rate, amount_cents, amount_currency }: Coupon): string =>
  coupon_type === 'percentage' ? `${decimal(percentage_rate)} %` : money(amount_cents, amount_currency);

const frequencyOf = ({ frequency, frequency_duration }: Coupon): string =>
  frequency === 'recurring'
    ? words.forPeriods(frequency_duration ?? 0)
    : frequency === 'forever'
      ? words.forever
      : words.once;

/** What do we give away? */
function List() {
  return (
    <Page title={words.title} under={words.under} actions={<Offers of={[makesCoupon()]} />}>
      <Listing<Coupon>
        path="/coupons"
        root="coupons"
        label={words.title}
        columns={[
          { head: words.name, cell: ({ name }) => name },
          { head: words.code, cell: ({ code }) => <code>{code}</code> },
          { head: words.worth, cell: worthOf, isNumber: true },
          { head: words.frequency, cell: frequencyOf, isExtra: true },
          {
            head: words.expires,
            cell: ({ expiration_at }) => (expiration_at ? day(expiration_at) : words.never),
            isExtra: true,
          },
          {
            head: words.state,
            cell: ({ terminated_at }) => (
              <Badge of={terminated_at ? 'terminated' : 'active'}>{terminated_at ? words.over : words.active}</Badge>
            ),
          },
        ]}
        href={({ code }) => to('coupons', code)}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
    </Page>
  );
}

function CouponPage({ code }: { code: string }) {
  const reading = useRead<{ coupon: Coupon }>(`/coupons/${encodeURIComponent(code)}`);
  return (
    <Shown of={reading} rows={6}>
      {({ coupon }) => (
        <Page
          title={coupon.name}
          badge={<Badge of={coupon.terminated_at ? 'terminated' : 'active'} />}
          back={{ href: to('coupons'), text: words.title }}
          under={<Id of={coupon.code} />}
          actions={
            <Offers
              of={[
                coupon.terminated_at === null && appliesCoupon({ code: coupon.code }),
                editsCoupon(coupon),
                deletesCoupon(coupon),
              ]}
            />
          }
        >
          <div class="card padded">
            <Facts
              of={[
                [words.worth, worthOf(coupon)],
                [words.frequency, frequencyOf(coupon)],
                [words.expires, coupon.expiration_at ? day(coupon.expiration_at) : words.never],
                [words.reusable, coupon.reusable ? words.yes : words.no],
                [
                  words.limitedTo,
                  coupon.limited_plans
                    ? coupon.plan_codes.map((each) => (
                        <a key={each} href={to('plans', each)}>
                          {each}{' '}
                        </a>
                      ))
                    : coupon.limited_billable_metrics
                      ? coupon.billable_metric_codes.join(', ')
                      : words.everything,
                ],
                [words.description, coupon.description],
                [t.page.made, <When at={coupon.created_at} />],
                [t.page.id, <Id of={coupon.svc_id} />],
              ]}
            />
          </div>
          {can('applied_coupon') && (
            <Section title={words.whoHasIt}>
              <AppliedCoupons filters={{ coupon_code: [coupon.code] }} by="customer" />
            </Section>
          )}
        </Page>
      )}
    </Shown>
  );
}
