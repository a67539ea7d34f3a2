import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { limitOf, pageMeta, pageOf } from '../../../platform/lists/pagination.ts';
import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { checkBillingEntityCodes } from '../../customers/billing-entities/queries.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { urlReader } from '../../messaging/documents/document-urls.ts';
import { ProfileQuery } from '../../messaging/documents/profile-query.ts';
import { createCreditNote } from './commands/create.ts';
import { downloadCreditNote } from './commands/download.ts';
import { estimateCreditNote } from './commands/estimate.ts';
import {
  deleteAllCreditNoteMetadata,
  deleteCreditNoteMetadataKey,
  mergeCreditNoteMetadata,
  replaceCreditNoteMetadata,
} from './commands/metadata.ts';
import { updateCreditNote } from './commands/update.ts';
import { voidCreditNote } from './commands/void.ts';
import { type CreditNoteFilters, countCreditNotes, getCreditNote, listCreditNotes } from './queries.ts';
import {
  CreditNoteCreate,
  CreditNoteCreateDocumented,
  CreditNoteEnvelope,
  CreditNoteEstimate,
  CreditNoteEstimateDocumented,
  CreditNoteEstimateEnvelope,
  CreditNoteMetadata,
  CreditNoteMetadataEnvelope,
  CreditNotesEnvelope,
  CreditNotesQuery,
  CreditNoteUpdate,
  CustomerCreditNotesQuery,
} from './schema.ts';
import { feesOfNotes, viewOf } from './show-credit-note.ts';
import { creditNoteListView } from './view.ts';

const note = { permission: 'credit_note', tag: 'credit_notes' } as const;
const read = { ...note, kind: 'read' } as const;
const command = { ...note, kind: 'command', job: 'credit-note.command' } as const;
const write = { ...command, answer: CreditNoteEnvelope } as const;
const metadata = {
  ...command,
  path: '/credit_notes/:svc_id/metadata',
  answer: CreditNoteMetadataEnvelope,
} as const;

const update: Operation = {
  ...write,
  name: 'updateCreditNote',
  method: 'put',
  path: '/credit_notes/:svc_id',
  summary: 'Update a credit note',
  root: 'credit_note',
  body: CreditNoteUpdate,
  run: updateCreditNote,
};

const download: Operation = {
  ...write,
  name: 'downloadCreditNote',
  method: 'post',
  path: '/credit_notes/:svc_id/download',
  summary: 'Get the document of a credit note',
  run: downloadCreditNote,
};

const merge: Operation = {
  ...metadata,
  name: 'mergeCreditNoteMetadata',
  method: 'patch',
  summary: 'Merge metadata of a credit note',
  root: 'metadata',
  body: CreditNoteMetadata,
  run: mergeCreditNoteMetadata,
};

export const creditNoteOperations: Operation[] = [
  {
    ...read,
    name: 'findAllCreditNotes',
    method: 'get',
    path: '/credit_notes',
    summary: 'List credit notes',
    query: CreditNotesQuery,
    answer: CreditNotesEnvelope,
    run: listAll,
  },
  {
    ...write,
    name: 'createCreditNote',
    method: 'post',
    path: '/credit_notes',
    summary: 'Create a credit note',
    description:
      'Only finalized invoices can be credited, at most for what is left of each fee. Coupons and taxes are given back in their share. Ask `POST /credit_notes/estimate` for the amounts first.',
    root: 'credit_note',
    body: CreditNoteCreate,
    documentedBody: CreditNoteCreateDocumented,
    run: createCreditNote,
  },
  {
    ...note,
    name: 'estimateCreditNote',
    method: 'post',
    path: '/credit_notes/estimate',
    summary: 'Estimate a credit note',
    root: 'credit_note',
    body: CreditNoteEstimate,
    documentedBody: CreditNoteEstimateDocumented,
    answer: CreditNoteEstimateEnvelope,
    kind: 'read',
    computedBy: 'preview.run',
    isLogged: true,
    ignoresIdempotencyKey: true,
    onlyAnswers: true,
    run: estimateCreditNote,
  },
  {
    ...read,
    name: 'findCreditNote',
    method: 'get',
    path: '/credit_notes/:svc_id',
    summary: 'Retrieve a credit note',
    answer: CreditNoteEnvelope,
    run: show,
  },
  {
    ...read,
    name: 'findAllCustomerCreditNotes',
    method: 'get',
    path: '/customers/:external_customer_id/credit_notes',
    summary: 'List the credit notes of a customer',
    tag: 'customers',
    query: CustomerCreditNotesQuery,
    answer: CreditNotesEnvelope,
    run: listOfCustomer,
  },
  update,
  { ...update, name: 'patchCreditNote', method: 'patch', hidden: true },
  {
    ...write,
    name: 'voidCreditNote',
    method: 'put',
    path: '/credit_notes/:svc_id/void',
    summary: 'Void what is left of a credit note',
    description: 'What was used of it stays used.',
    run: voidCreditNote,
  },
  download,
  { ...download, name: 'downloadCreditNotePdf', path: '/credit_notes/:svc_id/download_pdf', hidden: true },
  {
    ...download,
    name: 'downloadCreditNoteXml',
    path: '/credit_notes/:svc_id/download_xml',
    summary: 'Get the electronic document of a credit note',
    query: ProfileQuery,
    run: runsAsFlow,
  },
  {
    ...metadata,
    name: 'replaceCreditNoteMetadata',
    method: 'post',
    summary: 'Replace metadata of a credit note',
    root: 'metadata',
    body: CreditNoteMetadata,
    run: replaceCreditNoteMetadata,
  },
  merge,
  { ...merge, name: 'putCreditNoteMetadata', method: 'put', hidden: true },
  {
    ...metadata,
    name: 'deleteAllCreditNoteMetadata',
    method: 'delete',
    summary: 'Delete all metadata of a credit note',
    run: deleteAllCreditNoteMetadata,
  },
  {
    ...metadata,
    name: 'deleteCreditNoteMetadataKey',
    method: 'delete',
    path: '/credit_notes/:svc_id/metadata/:key',
    summary: 'Delete one metadata key of a credit note',
    run: deleteCreditNoteMetadataKey,
  },
];

function listAll(ctx: Context, { query }: { query: CreditNotesQuery }) {
  return listPage(ctx, query, { external_customer_id: query.external_customer_id });
}

async function listOfCustomer(
  ctx: Context,
  { external_customer_id, query }: { external_customer_id: ExternalCustomerId; query: CustomerCreditNotesQuery },
) {
  const customer = await getCustomer(ctx, external_customer_id);
  return listPage(ctx, query, { customerId: customer.id });
}

async function listPage(
  ctx: Context,
  query: CustomerCreditNotesQuery,
  owner: Pick<CreditNoteFilters, 'external_customer_id' | 'customerId'>,
) {
  const filters: CreditNoteFilters = { ...query, ...owner };
  await checkBillingEntityCodes(ctx, query.billing_entity_codes ?? []);
  const { rows, total } = await pageOf(query, {
    rows: () => listCreditNotes(ctx, filters, limitOf(query)),
    count: () => countCreditNotes(ctx, filters),
  });
  const fees = await feesOfNotes(ctx, rows);
  const urls = await urlReader(ctx, rows);
  const views = rows.map((row) => ({ ...creditNoteListView(row, fees), ...urls(row) }));
  return { credit_notes: views, meta: pageMeta(query, total) };
}

async function show(ctx: Context, { svc_id }: { svc_id: string }) {
  return { credit_note: await viewOf(ctx, await getCreditNote(ctx, svc_id)) };
}
