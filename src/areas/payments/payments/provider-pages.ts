import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../../platform/config.ts';
import type { Context } from '../../../platform/context.ts';
import { columnValues } from '../../../platform/db/values.ts';
import type { CustomerId, InvoiceId, PaymentProviderId, PaymentRequestId } from '../../../platform/ids.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import type { ContractProvider } from '../../../platform/payments/contract-providers.ts';
import { isOverNetwork } from '../../../platform/payments/providers.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import type { pagesOfProviderOutdated } from '../../customers/announcements.ts';
import type { CustomerRow } from '../../customers/customers/queries.ts';
import type { ProviderRow } from '../../customers/payment-providers/queries.ts';
import type { PaymentChange } from '../../invoices/announcements.ts';

/**
 * Opens a page at its provider over the network, before which its row has no address, or closes one that was closed
 * here.
 */
export const OPEN_PAGE_JOB = 'payment.open-page';

/** Life of a hosted page. Rule: payments.md#payment-url. */
const LIFE_HOURS = 24;
const TOKEN_BYTES = 18;

export interface PageRow {
  id: string;
  customer_id: CustomerId;
  payment_provider_id: PaymentProviderId;
  payable_type: 'Invoice' | 'PaymentRequest' | null;
  payable_id: string | null;
  token: string;
  /** Empty until the provider returned it. */
  url: string;
  amount_cents: number | null;
  provider_page_id: string | null;
}

/** Error of a page whose provider has had too many calls. */
export const TOO_MANY = 'too_many_provider_requests';

/** Why a provider did not open a page. */
export interface PageError {
  code: string;
  message: string;
  /** Status of the provider's answer. */
  http_status?: number;
  /** Of too many calls: when it takes the next one. */
  retry_after_ms?: number;
}

export const sandboxPageUrl = (config: Config, token: string): string =>
  `${publicUrl(config)}/api/v1/sandbox/checkouts/${token}`;

/**
 * A page on which the customer stores a payment method. A sandbox has its address at once, other providers by a job.
 */
export const openSetupPage = (ctx: Context, customer: CustomerRow, provider: ProviderRow): Promise<PageRow> =>
  openPage(ctx, customer.id, { provider, payable: null });

/**
 * A page on which the due amount of a payable is paid; the open one of the same amount, while it lives. A page of
 * another amount is closed, so that nothing can be paid on two.
 * Rule: payments.md#payment-url.
 */
export async function openPaymentPage(
  ctx: Context,
  customerId: CustomerId,
  provider: ProviderRow,
  payable: { type: 'Invoice' | 'PaymentRequest'; id: string; amountCents: number },
): Promise<PageRow> {
  const [known] = await ctx.db<PageRow[]>`
    select id, customer_id, payment_provider_id, payable_type, payable_id, token, url, amount_cents, provider_page_id
    from payment_pages
    where organization_id = ${ctx.organizationId} and payable_id = ${payable.id} and closed_at is null
      and payment_provider_id = ${provider.id} and expires_at > ${ctx.now()} and amount_cents = ${payable.amountCents}
    order by created_at desc limit 1`;
  if (!known) {
    await closePagesOf(ctx, [payable.id]);
    return openPage(ctx, customerId, { provider, payable });
  }
  // Its job may be lost, or have used up its attempts.
  if (known.url === '') oweOpening(ctx, known);
  return known;
}

const oweOpening = (ctx: Context, { id }: PageRow): void =>
  ctx.after({ nudge: OPEN_PAGE_JOB, payload: { page_id: id } });

async function openPage(
  ctx: Context,
  customerId: CustomerId,
  {
    provider,
    payable,
  }: { provider: ProviderRow; payable: { type: 'Invoice' | 'PaymentRequest'; id: string; amountCents: number } | null },
): Promise<PageRow> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const page: PageRow = {
    id: newId(),
    customer_id: customerId,
    payment_provider_id: provider.id,
    payable_type: payable?.type ?? null,
    payable_id: payable?.id ?? null,
    token,
    url: isOverNetwork(provider.provider_type) ? '' : sandboxPageUrl(ctx.config, token),
    amount_cents: payable?.amountCents ?? null,
    provider_page_id: null,
  };
  await ctx.db`
    insert into payment_pages ${ctx.db(
      columnValues({
        ...page,
        organization_id: ctx.organizationId,
        expires_at: ctx.now().add({ hours: LIFE_HOURS }),
        created_at: ctx.now(),
      }),
    )}`;
  if (page.url === '') oweOpening(ctx, page);
  return page;
}

/**
 * Closes the hosted pages of an invoice that was paid, here and at their provider. Rule: payments.md#automatic-payment.
 */
export async function closePagesOfInvoice(ctx: Context, { invoice, status }: PaymentChange): Promise<void> {
  if (status === 'succeeded') await closePages(ctx, invoice.id);
}

interface ClosedPage {
  id: string;
  provider_page_id: string | null;
}

/**
 * Closes the hosted pages of an invoice, and of payment requests that ask for it, here and at their provider.
 */
export async function closePages(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const requests = await ctx.db<{ payment_request_id: PaymentRequestId }[]>`
    select payment_request_id from payment_request_invoices
    where organization_id = ${ctx.organizationId} and invoice_id = ${invoiceId}`;
  await closePagesOf(ctx, [invoiceId, ...requests.map((request) => request.payment_request_id)]);
}

/** Closes the hosted pages of some invoices and payment requests, here and at their provider. */
export async function closePagesOf(ctx: Context, payableIds: readonly string[]): Promise<void> {
  const closed = await ctx.db<ClosedPage[]>`
    update payment_pages set closed_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and payable_id = any (${payableIds}) and closed_at is null
    returning id, provider_page_id`;
  oweEnds(ctx, closed);
}

/** Closes all hosted pages of a connection, here and at the provider, because its settings changed. */
export async function closePagesOfProvider(
  ctx: Context,
  { payment_provider_id }: PayloadOf<typeof pagesOfProviderOutdated>,
): Promise<void> {
  const closed = await ctx.db<ClosedPage[]>`
    update payment_pages set closed_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and payment_provider_id = ${payment_provider_id} and closed_at is null
    returning id, provider_page_id`;
  oweEnds(ctx, closed);
}

function oweEnds(ctx: Context, closed: readonly ClosedPage[]): void {
  for (const page of closed) {
    if (page.provider_page_id !== null) ctx.after({ nudge: OPEN_PAGE_JOB, payload: { page_id: page.id } });
  }
}

const POLL_MS = 50;
const POLLS = 160;

interface AwaitedPage {
  url: string;
  is_closed: boolean;
  error: PageError | null;
  provider_name: ContractProvider;
  /** Of the connection. */
  code: string;
}

/**
 * Waits for the address of a page that a job opens at its provider; until then commands pass on the page's id. An
 * address never changes.
 *
 * @throws Refusal 422 provider_error, when the provider refused; 401, when it refused the credentials of the
 *   connection; 429, when it has had too many calls; 503, when it did not answer in time, or the page was closed
 *   meanwhile: who asks again learns why, or gets another page
 */
export async function awaitPage(ctx: Context, urlOrId: string): Promise<string> {
  if (!isUuid(urlOrId)) return urlOrId;
  for (let poll = 0; poll < POLLS; poll += 1) {
    const [page] = await ctx.db<AwaitedPage[]>`
      select page.url, page.closed_at is not null as is_closed, page.error, provider.code,
        coalesce(provider.emulates, provider.provider_type) as provider_name
      from payment_pages page
      join payment_providers provider
        on provider.organization_id = page.organization_id and provider.id = page.payment_provider_id
      where page.organization_id = ${ctx.organizationId} and page.id = ${urlOrId}`;
    if (page?.error) throw refusalOfPage(page, page.error);
    if (page?.is_closed) throw refuse.unavailable();
    if (page?.url) return page.url;
    await pause(POLL_MS);
  }
  throw refuse.unavailable();
}

function refusalOfPage({ provider_name, code }: AwaitedPage, error: PageError): Refusal {
  if (error.code === TOO_MANY)
    return refuse.tooManyProviderRequests(provider_name, error.message, error.retry_after_ms ?? 0);
  if (error.http_status === 401 || error.http_status === 403) return refuse.providerCredentials(error.message);
  return refuse.provider(code, error);
}
