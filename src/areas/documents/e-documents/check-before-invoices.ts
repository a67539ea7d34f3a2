import { localDate } from '../../../engine/calendar/local-day.ts';
import { documentAmounts } from '../../../engine/e-documents/amounts.ts';
import type { DocumentFacts } from '../../../engine/e-documents/facts.ts';
import { DEFAULT_PROFILE, type Profile } from '../../../engine/e-documents/profiles.ts';
import { type Problem, problemsOf } from '../../../engine/e-documents/rules.ts';
import { cents } from '../../../engine/money/cents.ts';
import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import type { Context } from '../../../platform/context.ts';
import { type BillingEntityRow, getBillingEntity } from '../../customers/billing-entities/queries.ts';
import { type CustomerRow, getCustomer } from '../../customers/customers/queries.ts';
import {
  buyerReferenceOf,
  chosenProfile,
  paymentOf,
  type StatedRecords,
  statedParties,
} from '../render-documents/e-documents/stated-parties.ts';

/** A taxed line of one main unit, on which only the parties' facts can be wrong. */
const SAMPLE_CENTS = 10_000;
const SAMPLE_RATE = 20;

/** Before the first invoice nobody knows how it will be charged. */
const UNKNOWN_CHARGE = { is_manual: false, method: null };

interface Checked {
  profile: Profile;
  missing: Problem[];
}

/** What an ordinary invoice to a customer would lack. @throws Refusal 404 customer */
export async function checkedCustomer(ctx: Context, externalId: string, profile?: Profile): Promise<Checked> {
  const customer = await getCustomer(ctx, externalId);
  const entity = await getBillingEntity(ctx, customer.billing_entity_code);
  return check(ctx, { entity, customer, profile });
}

/** What the billing entity's part of an ordinary invoice would lack. @throws Refusal 404 billing_entity */
export async function checkedEntity(ctx: Context, code: string, profile?: Profile): Promise<Checked> {
  const checked = check(ctx, { entity: await getBillingEntity(ctx, code), customer: null, profile });
  return { ...checked, missing: checked.missing.filter(({ resource }) => resource === 'billing_entity') };
}

function check(
  ctx: Context,
  given: { entity: BillingEntityRow; customer: CustomerRow | null; profile: Profile | undefined },
): Checked {
  const { entity, customer } = given;
  const records = recordsOf(entity, customer);
  const profile = given.profile ?? chosenProfile(records) ?? DEFAULT_PROFILE;
  const currency = (customer?.currency ?? entity.default_currency) as Currency;
  const today = localDate(ctx.now(), entity.timezone);
  const facts = sample(records, { profile, currency, today });
  return { profile, missing: problemsOf(facts) };
}

function recordsOf(entity: BillingEntityRow, customer: CustomerRow | null): StatedRecords {
  const person = customer && [customer.firstname, customer.lastname].filter(Boolean).join(' ');
  const payer = customer ?? { ...entity, metadata: [], payment_provider: null };
  const name = customer && (customer.legal_name || customer.name || person || customer.external_id);
  return {
    issuer: { ...entity, name: entity.legal_name || entity.name },
    payer: { ...payer, name: name ?? entity.name },
  };
}

function sample(
  records: StatedRecords,
  { profile, currency, today }: { profile: Profile; currency: Currency; today: DocumentFacts['issuedOn'] },
): DocumentFacts {
  const number = 'CHECK';
  const rate = decimal(SAMPLE_RATE);
  const taxCents = (SAMPLE_CENTS * SAMPLE_RATE) / 100;
  const grossCents = SAMPLE_CENTS + taxCents;
  const treatment = { category: 'S', exemptionCode: null, exemptionText: null } as const;
  const amountCents = cents(SAMPLE_CENTS);
  const { allowances, vat, totals } = documentAmounts(
    [
      {
        category: 'S',
        rate,
        amountCents,
        preciseAllowanceCents: decimal(0),
        preciseTaxCents: decimal(taxCents),
        treatment,
      },
    ],
    {
      couponsCents: 0,
      alreadyInvoicedCents: 0,
      netCents: SAMPLE_CENTS,
      taxCents,
      grossCents,
      paidCents: 0,
      payableCents: grossCents,
    },
  );
  return {
    profile,
    kind: 'Invoice',
    typeCode: '380',
    number,
    issuedOn: today,
    dueOn: today,
    currency,
    note: null,
    buyerReference: buyerReferenceOf(records, null),
    orderNumber: null,
    preceding: [],
    period: null,
    ...statedParties(records, { selfBilled: false, isOutsideVat: false }),
    delivery: null,
    payment: paymentOf(records, { number, currency, isOrdinary: true, charge: UNKNOWN_CHARGE }),
    terms: null,
    lines: [
      {
        name: number,
        description: null,
        quantity: decimal(1),
        unit: 'C62',
        price: toMainUnit(amountCents, exponentOf(currency)),
        amountCents: SAMPLE_CENTS,
        category: 'S',
        rate,
        period: null,
      },
    ],
    allowances,
    vat,
    totals,
    unavailable: [],
  };
}
