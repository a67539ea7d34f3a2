import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import type { Operation } from '../../../platform/operation.ts';
import { approveQuoteVersion } from './commands/approve.ts';
import { cloneQuoteVersion } from './commands/clone.ts';
import { createQuote } from './commands/create.ts';
import { updateQuoteVersion } from './commands/update.ts';
import { voidQuoteVersion } from './commands/void.ts';
import { getQuote, getQuoteVersion, listCurrentVersions, listQuotes, listVersions } from './queries.ts';
import {
  QuoteCreate,
  QuoteEnvelope,
  QuoteList,
  QuotesQuery,
  QuoteVersionApprove,
  QuoteVersionEnvelope,
  QuoteVersionList,
  QuoteVersionUpdate,
  VersionsQuery,
} from './schema.ts';
import { quoteExtendedView, quoteVersionExtendedView, quoteVersionView, quoteView } from './view.ts';

const common = { permission: 'quote', tag: 'quotes' } as const;

/** The longest content, 500 000 characters of up to three bytes, and the items. */
const BODY_LIMIT_BYTES = 3 * 1024 * 1024;
const ofVersion = { ...common, answer: QuoteVersionEnvelope } as const;

export const quoteOperations: Operation[] = [
  {
    ...common,
    name: 'createQuote',
    method: 'post',
    path: '/quotes',
    summary: 'Create a quote',
    description: 'Its first version is a draft.',
    root: 'quote',
    body: QuoteCreate,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    answer: QuoteEnvelope,
    kind: 'command',
    run: createQuote,
  },
  {
    ...common,
    name: 'findAllQuotes',
    method: 'get',
    path: '/quotes',
    summary: 'List all quotes',
    query: QuotesQuery,
    answer: QuoteList,
    kind: 'read',
    run: listPage,
  },
  {
    ...common,
    name: 'findQuote',
    method: 'get',
    path: '/quotes/:svc_id',
    summary: 'Retrieve a quote',
    answer: QuoteEnvelope,
    kind: 'read',
    run: show,
  },
  {
    ...common,
    name: 'findAllQuoteVersions',
    method: 'get',
    path: '/quotes/:svc_id/versions',
    summary: 'List the versions of a quote',
    query: VersionsQuery,
    answer: QuoteVersionList,
    kind: 'read',
    run: listVersionsPage,
  },
  {
    ...ofVersion,
    name: 'findQuoteVersion',
    method: 'get',
    path: '/quote_versions/:svc_id',
    summary: 'Retrieve a version of a quote',
    kind: 'read',
    run: showVersion,
  },
  {
    ...ofVersion,
    name: 'updateQuoteVersion',
    method: 'put',
    path: '/quote_versions/:svc_id',
    summary: 'Update a draft of a quote',
    root: 'quote_version',
    body: QuoteVersionUpdate,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    kind: 'command',
    run: updateQuoteVersion,
  },
  {
    ...ofVersion,
    name: 'approveQuoteVersion',
    method: 'post',
    path: '/quote_versions/:svc_id/approve',
    summary: 'Approve a version of a quote',
    description: 'It becomes an order form, which the customer signs.',
    body: QuoteVersionApprove,
    bodyOptional: true,
    kind: 'command',
    run: approveQuoteVersion,
  },
  {
    ...ofVersion,
    name: 'voidQuoteVersion',
    method: 'post',
    path: '/quote_versions/:svc_id/void',
    summary: 'Void a version of a quote',
    kind: 'command',
    run: voidQuoteVersion,
  },
  {
    ...ofVersion,
    name: 'cloneQuoteVersion',
    method: 'post',
    path: '/quote_versions/:svc_id/clone',
    summary: 'Copy a version of a quote into a new draft',
    kind: 'command',
    run: cloneQuoteVersion,
  },
];

async function listPage(ctx: Context, { query }: { query: QuotesQuery }) {
  const { rows, total } = await listQuotes(ctx, query);
  const versions = await listCurrentVersions(
    ctx,
    rows.map(({ id }) => id),
  );
  const current = new Map(versions.map((version) => [version.quote_id, version]));
  return { quotes: rows.map((quote) => quoteView(quote, current.get(quote.id))), meta: pageMeta(query, total) };
}

async function show(ctx: Context, { svc_id }: { svc_id: string }) {
  const quote = await getQuote(ctx, svc_id);
  const [current] = await listCurrentVersions(ctx, [quote.id]);
  return { quote: quoteExtendedView(quote, current) };
}

async function listVersionsPage(ctx: Context, { svc_id, query }: { svc_id: string; query: VersionsQuery }) {
  const quote = await getQuote(ctx, svc_id);
  const { rows, totalCount } = await listVersions(ctx, quote.id, query);
  return { quote_versions: rows.map(quoteVersionView), meta: pageMeta(query, totalCount) };
}

async function showVersion(ctx: Context, { svc_id }: { svc_id: string }) {
  return { quote_version: quoteVersionExtendedView(await getQuoteVersion(ctx, svc_id)) };
}
