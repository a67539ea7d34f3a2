import type { Temporal } from 'temporal-polyfill';
import { isSandbox } from '../../../platform/clock/organization-clock.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, OrganizationId, PaymentProviderId } from '../../../platform/ids.ts';
import {
  CredentialsRefused,
  ProviderConflict,
  ProviderRefusal,
  TooManyCalls,
} from '../../../platform/payments/port.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { Outage } from '../../../platform/refusal.ts';
import { announceNoMethodNeeded, recordMade, recordNotMade } from '../../customers/customers/announce-link.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { listOtherEndpoints, type ProviderRow } from '../../customers/payment-providers/queries.ts';
import { LIVE_KEY_IN_SANDBOX, sealSecrets } from '../../customers/payment-providers/secrets.ts';
import { recordProviderError, setConnectionStatus } from '../../customers/payment-providers/status.ts';
import { inboundUrl } from '../../customers/payment-providers/view.ts';
import { payLink, RETURNED } from '../../messaging/mails/pay-link.ts';
import { recordCheckoutUrl } from '../payments/checkout-url.ts';
import { type PageError, type PageRow, TOO_MANY } from '../payments/provider-pages.ts';
import { sellerCountryOf } from '../payments/seller-country.ts';
import { type Connected, connected, type NetworkDeps } from '../provider-network/network.ts';
import { makeCustomerThere } from './create-customer.ts';
import { applyEvent } from './handle-event.ts';

/**
 * Job `payment.connect`: checks the credentials of a connection and registers for the provider's events if that is
 * owed. A refusal of the provider is shown on the connection and announced. @throws Outage.
 * Rule: provider-connections.md#checking.
 */
export async function connectProvider(
  deps: SystemDeps,
  {
    organization_id: organizationId,
    payment_provider_id: id,
  }: { organization_id: OrganizationId; payment_provider_id: PaymentProviderId },
): Promise<void> {
  const connection = await connected(deps, organizationId, id);
  if (!connection || connection.row.deleted_at !== null) return;
  const { row, provider } = connection;
  const checked = await provider.check();
  const isRefused = checked.ok && checked.live && (await isSandbox({ db: deps.sql, organizationId }));
  const refusal = isRefused ? LIVE_KEY_IN_SANDBOX : checked.ok ? null : checked.error.message;
  if (refusal !== null)
    return transactHoldingClock(deps, organizationId, (ctx) =>
      setConnectionStatus(ctx, row, { status: 'failing', error: refusal }),
    );
  const inbound = await registerIfOwed(deps, organizationId, connection);
  await transactHoldingClock(deps, organizationId, async (ctx) => {
    if (inbound) await storeInbound(ctx, row, inbound);
    const live = checked.ok ? { isLive: checked.live } : {};
    await setConnectionStatus(ctx, row, { status: 'connected', error: inbound?.refusal ?? null, ...live });
    if (inbound?.refusal !== undefined) recordProviderError(ctx, row, inbound.refusal);
  });
}

/** Our address for events, as it was registered at the provider, or why it was not. */
type Inbound = { id: string; secret: string; refusal?: undefined } | { refusal: string };

/** Undefined if nothing had to be registered: it is, or the provider has no interface for it. */
async function registerIfOwed(
  deps: SystemDeps,
  organizationId: OrganizationId,
  { row, provider }: Connected,
): Promise<Inbound | undefined> {
  if (!provider.registerInbound) return undefined;
  if (row.inbound_owed_at === null && row.inbound_endpoint_id !== null) return undefined;
  try {
    return await provider.registerInbound({
      idempotencyKey: `inbound-${row.id}-${row.inbound_owed_at?.epochMilliseconds ?? 'first'}`,
      url: inboundUrl(deps.config, organizationId, row),
      formerId: row.inbound_endpoint_id,
      keptIds: await listOtherEndpoints({ db: deps.sql, organizationId }, row.id),
    });
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    return { refusal: error.error.message };
  }
}

/** One that became owed again meanwhile stays owed. */
async function storeInbound(ctx: Context, row: ProviderRow, inbound: Inbound): Promise<void> {
  const isMade = inbound.refusal === undefined;
  const sealed = isMade ? (await sealSecrets(ctx, row.id, { inbound_secret: inbound.secret })).secrets : {};
  await ctx.db`
    update payment_providers set secrets = secrets || ${json(sealed)}::jsonb,
      inbound_endpoint_id = ${isMade ? inbound.id : row.inbound_endpoint_id},
      inbound_owed_at = case when inbound_owed_at is not distinct from ${row.inbound_owed_at} then null
        else inbound_owed_at end
    where organization_id = ${ctx.organizationId} and id = ${row.id}`;
}

/**
 * Job `payment.create-customer`: makes a customer at its provider. @throws Outage.
 * Rules: customers.md#payment-provider, payments.md#checkout.
 */
export async function createCustomerThere(
  deps: SystemDeps,
  { organization_id: organizationId, customer_id: id }: { organization_id: OrganizationId; customer_id: CustomerId },
): Promise<void> {
  const customer = await readCustomer({ db: deps.sql, organizationId }, id);
  const connection = await connected(deps, organizationId, customer.payment_provider_id);
  if (!connection || customer.provider_customer_id !== null) return;
  const there = await makeCustomerThere(deps, connection, customer);
  await transactHoldingClock(deps, organizationId, async (ctx) => {
    const isMade = !('refused' in there);
    const followed = await ctx.db`
      update customers set updated_at = ${ctx.now()},
        provider_customer_id = ${isMade ? there.providerCustomerId : null},
        payment_provider_id = ${isMade ? connection.row.id : null}
      where organization_id = ${organizationId} and id = ${id} and payment_provider_id = ${connection.row.id}
        and provider_customer_id is null returning id`;
    // It was linked elsewhere meanwhile, or by another delivery of this job.
    if (followed.length === 0) return;
    if (!isMade) return recordNotMade(ctx, customer, there.refused);
    const now = await readCustomer(ctx, id);
    recordMade(ctx, now);
    await announceNoMethodNeeded(ctx, now);
    if (there.checkoutUrl !== undefined) recordCheckoutUrl(ctx, now, there.checkoutUrl);
  });
}

/**
 * Job `payment.open-page`: gives a page its address at the provider; one that was closed, also while it was opened, is
 * ended there, so that no invoice is paid twice. @throws Outage. Rule: payments.md#payment-url.
 */
export async function openPageThere(
  deps: NetworkDeps,
  { organization_id: organizationId, page_id: id }: { organization_id: OrganizationId; page_id: string },
): Promise<void> {
  const [page] = await deps.sql<(TimedPage & { is_closed: boolean })[]>`
    select id, customer_id, payment_provider_id, payable_type, payable_id, token, url, amount_cents, provider_page_id,
      created_at, closed_at is not null as is_closed
    from payment_pages where organization_id = ${organizationId} and id = ${id} and error is null
      and (closed_at is null and url = ''
        or closed_at is not null and provider_page_id is not null and ended_at is null)`;
  if (!page) return;
  if (page.is_closed) {
    const connection = await connected(deps, organizationId, page.payment_provider_id);
    return connection && endPage(deps, organizationId, connection, { id, thereId: page.provider_page_id! });
  }
  try {
    await openAt(deps, organizationId, page);
  } catch (error) {
    const refusal = pageError(error);
    if (!refusal) throw error;
    await deps.sql`
      update payment_pages set error = ${json(refusal)}, closed_at = coalesce(closed_at, ${realNow()})
      where organization_id = ${organizationId} and id = ${id}`;
  }
}

/** A page with the time at which it was asked for. */
type TimedPage = PageRow & { created_at: Temporal.Instant };

async function openAt(deps: NetworkDeps, organizationId: OrganizationId, page: TimedPage): Promise<void> {
  const { id } = page;
  const connection = await connected(deps, organizationId, page.payment_provider_id);
  if (!connection) return;
  const customer = await readCustomer({ db: deps.sql, organizationId }, page.customer_id);
  const payable = await describePayable({ db: deps.sql, organizationId }, page);
  const opened = await connection.provider.openPage({
    idempotencyKey: `page-${id}`,
    providerCustomerId: customer.provider_customer_id!,
    methodTypes: customer.provider_payment_methods,
    successUrl: connection.row.success_redirect_url ?? (await ownReturnUrl(deps, page)),
    currency: customer.currency,
    sellerCountry: await countryOf({ db: deps.sql, organizationId }, page),
    metadata: { customer_id: customer.id },
    ...(payable
      ? {
          payment: {
            amountCents: page.amount_cents!,
            currency: payable.currency,
            description: payable.description,
            metadata: { payable_type: page.payable_type!, payable_id: page.payable_id! },
          },
        }
      : {}),
  });
  const [stored] = await deps.sql<{ is_closed: boolean }[]>`
    update payment_pages set url = ${opened.url}, provider_page_id = ${opened.id}
    where organization_id = ${organizationId} and id = ${id} returning closed_at is not null as is_closed`;
  if (stored?.is_closed) await endPage(deps, organizationId, connection, { id, thereId: opened.id });
}

const countryOf = (scope: Scope, { payable_type, payable_id }: PageRow): Promise<string | null> | null =>
  payable_type === null ? null : sellerCountryOf(scope, { payable_type, payable_id: payable_id! });

/**
 * Where the customer comes back to: the page of ours that tells what has become of the payment. The same at every
 * attempt, as the provider's idempotency wants it.
 */
async function ownReturnUrl({ sql, config }: SystemDeps, page: TimedPage) {
  if (page.payable_type === null) return publicUrl(config);
  const payable = { type: page.payable_type, id: page.payable_id! };
  return `${await payLink({ db: sql, config }, payable, page.created_at)}?${RETURNED}`;
}

/** How many invoice numbers the provider is given of a request; a line of its page holds no more. */
const NUMBERS_SHOWN = 5;

/** The currency of what a page is for, and the words for it: the numbers of its invoices, the first few of many. */
async function describePayable(
  { db, organizationId }: Scope,
  { payable_id: id }: PageRow,
): Promise<{ currency: string; description: string } | undefined> {
  const invoices = await db<{ currency: string; number: string }[]>`
    select invoice.currency, invoice.number from invoices invoice
    where invoice.organization_id = ${organizationId} and (invoice.id = ${id} or invoice.id in (
      select asked.invoice_id from payment_request_invoices asked
      where asked.organization_id = ${organizationId} and asked.payment_request_id = ${id}))
    order by invoice.issuing_date, invoice.id limit ${NUMBERS_SHOWN + 1}`;
  const [first] = invoices;
  if (!first) return undefined;
  const numbers = invoices.slice(0, NUMBERS_SHOWN).map(({ number }) => number);
  return {
    currency: first.currency,
    description: [...numbers, ...(invoices.length > NUMBERS_SHOWN ? ['…'] : [])].join(', '),
  };
}

/** What the caller who waits for a page learns; undefined for an outage, after which the page is opened again. */
function pageError(error: unknown): PageError | undefined {
  if (error instanceof TooManyCalls)
    return { code: TOO_MANY, message: error.message, retry_after_ms: error.retryAfterMs };
  // A page of another content has this key: the next caller gets a page with a key of its own.
  const isRefusal =
    error instanceof ProviderRefusal || error instanceof ProviderConflict || error instanceof CredentialsRefused;
  if (!isRefusal) return undefined;
  const { code, message, httpStatus } = error.error;
  return { code, message, ...(httpStatus === undefined ? {} : { http_status: httpStatus }) };
}

/** Ends a page at its provider; of one that was paid there first, the payment is stored before it counts as ended. */
async function endPage(
  deps: SystemDeps,
  organizationId: OrganizationId,
  { row, provider }: Connected,
  page: { id: string; thereId: string },
): Promise<void> {
  try {
    await provider.expirePage(page.thereId);
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    const there = await provider.readPage?.(page.thereId);
    if (there?.isOpen) throw new Outage(row.provider_type, error);
    const payment = there?.payment;
    if (payment)
      await transactHoldingClock(deps, organizationId, (ctx) => applyEvent(ctx, row, { ...payment, kind: 'payment' }));
  }
  await deps.sql`
    update payment_pages set ended_at = ${realNow()}
    where organization_id = ${organizationId} and id = ${page.id} and ended_at is null`;
}
