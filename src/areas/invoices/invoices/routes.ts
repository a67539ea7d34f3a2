import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { limitOf, pageMeta, pageOf } from '../../../platform/lists/pagination.ts';
import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { present } from '../../../platform/schema/view.ts';
import { checkBillingEntityCodes } from '../../customers/billing-entities/queries.ts';
import { getCustomer, listCustomersByIds } from '../../customers/customers/queries.ts';
import { urlReader, urlsOf } from '../../messaging/documents/document-urls.ts';
import { ProfileQuery } from '../../messaging/documents/profile-query.ts';
import { deleteInvoice } from './commands/delete.ts';
import { downloadInvoice } from './commands/download.ts';
import { loseDispute } from './commands/lose-dispute.ts';
import { retryInvoice } from './commands/retry.ts';
import { finalizeAllInvoices, retryAllInvoices, settleRun, showRun } from './commands/run-many.ts';
import { CrmIdSync, syncCrmId } from './commands/sync-crm-id.ts';
import { updateInvoice } from './commands/update.ts';
import { OneOffInvoiceCreate } from './one-off-schema.ts';
import { InvoicePreview, InvoicePreviewBody } from './preview-schema.ts';
import { countListed, getVisibleInvoice, type InvoiceFilters, listInvoices } from './queries.ts';
import { InvoiceRegeneration } from './regenerate-schema.ts';
import {
  CustomerInvoicesQuery,
  InvoiceEnvelope,
  InvoiceRunEnvelope,
  InvoicesEnvelope,
  InvoicesQuery,
  InvoiceUpdate,
  InvoiceVoid,
} from './schema.ts';
import { partsOf } from './show-invoice.ts';
import { invoiceListView, invoiceView } from './view.ts';

const write = { permission: 'invoice', tag: 'invoices', kind: 'command', answer: InvoiceEnvelope } as const;

const update: Operation = {
  ...write,
  name: 'updateInvoice',
  method: 'put',
  path: '/invoices/:svc_id',
  summary: 'Update an invoice',
  description: 'Metadata, and the payment status of what was paid elsewhere.',
  root: 'invoice',
  body: InvoiceUpdate,
  run: updateInvoice,
};

const download: Operation = {
  ...write,
  name: 'downloadInvoice',
  method: 'post',
  path: '/invoices/:svc_id/download',
  summary: 'Get the document of an invoice',
  description:
    'The answer has `file_url` as soon as the document is drawn; until then it is null, and `invoice.generated` tells.',
  run: downloadInvoice,
};

const many = {
  permission: 'invoice',
  tag: 'invoices',
  kind: 'command',
  method: 'post',
  query: InvoicesQuery,
  answer: InvoiceRunEnvelope,
  settle: settleRun,
} as const;

const previewed = {
  kind: 'read',
  computedBy: 'preview.run',
  isLogged: true,
  ignoresIdempotencyKey: true,
} as const;

export const invoiceOperations: Operation[] = [
  {
    name: 'createInvoice',
    method: 'post',
    path: '/invoices',
    permission: 'invoice',
    summary: 'Create a one-off invoice',
    description: 'Its fees are add-ons. It is finalized at once, and collected as every invoice.',
    tag: 'invoices',
    root: 'invoice',
    body: OneOffInvoiceCreate,
    answer: InvoiceEnvelope,
    kind: 'command',
    run: runsAsFlow,
  },
  {
    name: 'findAllInvoices',
    method: 'get',
    path: '/invoices',
    permission: 'invoice',
    summary: 'List invoices',
    tag: 'invoices',
    query: InvoicesQuery,
    answer: InvoicesEnvelope,
    kind: 'read',
    run: listAll,
  },
  {
    name: 'findInvoice',
    method: 'get',
    path: '/invoices/:svc_id',
    permission: 'invoice',
    summary: 'Retrieve an invoice',
    tag: 'invoices',
    answer: InvoiceEnvelope,
    kind: 'read',
    run: show,
  },
  {
    name: 'findAllCustomerInvoices',
    method: 'get',
    path: '/customers/:external_customer_id/invoices',
    permission: 'invoice',
    summary: 'List the invoices of a customer',
    tag: 'customers',
    query: CustomerInvoicesQuery,
    answer: InvoicesEnvelope,
    kind: 'read',
    run: listOfCustomer,
  },
  update,
  { ...update, name: 'patchInvoice', method: 'patch', hidden: true },
  {
    ...write,
    name: 'deleteInvoice',
    method: 'delete',
    path: '/invoices/:svc_id',
    summary: 'Delete a draft invoice',
    description: 'Its usage is billed by the next one.',
    run: deleteInvoice,
  },
  {
    ...write,
    name: 'refreshInvoice',
    method: 'put',
    path: '/invoices/:svc_id/refresh',
    summary: 'Compute a draft invoice again',
    description: 'Late usage and changed prices are taken in. Finalized invoices never change.',
    run: runsAsFlow,
  },
  {
    ...write,
    name: 'finalizeInvoice',
    method: 'put',
    path: '/invoices/:svc_id/finalize',
    summary: 'Finalize a draft invoice',
    description: 'It gets its number, its document and its payment, and never changes again.',
    run: runsAsFlow,
  },
  {
    ...write,
    name: 'invoicePreview',
    method: 'post',
    path: '/invoices/preview',
    summary: 'Preview an invoice',
    description: 'Nothing is stored. Give an existing customer with subscriptions, or what might be bought.',
    body: InvoicePreviewBody,
    documentedBody: InvoicePreview,
    ...previewed,
    onlyAnswers: true,
    run: runsAsFlow,
  },
  {
    ...many,
    name: 'finalizeAllInvoices',
    path: '/invoices/finalize_all',
    summary: 'Finalize all draft invoices',
    run: finalizeAllInvoices,
  },
  {
    ...many,
    name: 'retryAllInvoices',
    path: '/invoices/retry_all',
    summary: 'Retry all invoices that have failed',
    run: retryAllInvoices,
  },
  {
    permission: 'invoice',
    tag: 'invoices',
    kind: 'read',
    method: 'get',
    name: 'findInvoiceRun',
    path: '/invoices/runs/:run_id',
    summary: 'Retrieve a run over many invoices',
    answer: InvoiceRunEnvelope,
    run: showRun,
  },
  download,
  { ...download, name: 'downloadInvoicePdf', path: '/invoices/:svc_id/download_pdf', hidden: true },
  {
    ...download,
    name: 'downloadInvoiceXml',
    path: '/invoices/:svc_id/download_xml',
    summary: 'Get the electronic document of an invoice',
    query: ProfileQuery,
    run: runsAsFlow,
  },
  {
    ...write,
    name: 'syncInvoiceCrmId',
    method: 'put',
    path: '/invoices/:svc_id/sync_salesforce_id',
    summary: 'Note the id of an invoice in an external CRM',
    body: CrmIdSync,
    run: syncCrmId,
  },
  {
    ...write,
    name: 'voidInvoice',
    method: 'post',
    path: '/invoices/:svc_id/void',
    summary: 'Void an invoice',
    description: 'Nothing of it is owed any more. What was paid or credited on it comes back as the body says.',
    body: InvoiceVoid,
    bodyOptional: true,
    run: runsAsFlow,
  },
  {
    ...write,
    name: 'regenerateInvoice',
    method: 'post',
    path: '/invoices/:svc_id/regenerate',
    summary: 'Regenerate a voided invoice',
    description: 'Made of a void invoice, once.',
    root: 'invoice',
    body: InvoiceRegeneration,
    run: runsAsFlow,
  },
  {
    ...write,
    name: 'loseDisputeInvoice',
    method: 'post',
    path: '/invoices/:svc_id/lose_dispute',
    summary: 'Mark the dispute of an invoice as lost',
    run: loseDispute,
  },
  {
    ...write,
    name: 'retryInvoice',
    method: 'post',
    path: '/invoices/:svc_id/retry',
    summary: 'Retry an invoice that has failed',
    run: retryInvoice,
  },
];

function listAll(ctx: Context, { query }: { query: InvoicesQuery }) {
  return listPage(ctx, query, { external_customer_id: query.external_customer_id ?? query.customer_external_id });
}

async function listOfCustomer(
  ctx: Context,
  { external_customer_id, query }: { external_customer_id: ExternalCustomerId; query: CustomerInvoicesQuery },
) {
  const customer = await getCustomer(ctx, external_customer_id);
  return listPage(ctx, query, { customerId: customer.id });
}

async function listPage(
  ctx: Context,
  query: CustomerInvoicesQuery,
  owner: Pick<InvoiceFilters, 'external_customer_id' | 'customerId'>,
) {
  const filters: InvoiceFilters = {
    ...query,
    ...owner,
    statuses: query.statuses ?? query.status,
    payment_statuses: query.payment_statuses ?? query.payment_status,
  };
  await checkBillingEntityCodes(ctx, query.billing_entity_codes ?? []);
  const { rows, total } = await pageOf(query, {
    rows: () => listInvoices(ctx, filters, limitOf(query)),
    count: () => countListed(ctx, filters),
  });
  const customers = await listCustomersByIds(ctx, [...new Set(rows.map((row) => row.customer_id))]);
  const byId = new Map(customers.map((customer) => [customer.id, customer]));
  const urls = await urlReader(ctx, rows);
  return {
    invoices: rows.map((row) => ({ ...invoiceListView(row, byId.get(row.customer_id)!), ...urls(row) })),
    meta: pageMeta(query, total),
  };
}

async function show(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await getVisibleInvoice(ctx, svc_id);
  const [parts, urls] = await Promise.all([partsOf(ctx, invoice), urlsOf(ctx, invoice)]);
  return {
    invoice: {
      ...invoiceView(parts, ctx.now()),
      ...urls,
      ...present({ last_verification: invoice.last_verification }),
    },
  };
}
