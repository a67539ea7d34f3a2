import type { Operation } from '../../../platform/operation.ts';
import { addPriceEntries, importPriceFile, putAliases, retractPriceEntry } from './commands.ts';
import { listPriceEntries, listPriceModels, resolvePriceBook, showAliases } from './reads.ts';
import {
  AliasesInput,
  AliasList,
  FILE_MEMBERS_MAX,
  PriceEntriesInput,
  PriceEntriesQuery,
  PriceEntriesWritten,
  PriceEntryEnvelope,
  PriceEntryList,
  PriceImport,
  PriceImportBody,
  PriceImportQuery,
  PriceModelList,
  PriceModelsQuery,
  Resolution,
  ResolveQuery,
} from './schema.ts';

/** Largest file of prices: those that are published have less than 2 MiB. */
const FILE_MAX_BYTES = 5 * 1024 * 1024;
/** Twice a published map of 3 000 models with up to 40 fields each; JSON of so many values takes 40 ms to parse. */
const FILE_SHAPE = { values: 250_000, members: FILE_MEMBERS_MAX };

const common = { permission: 'price_book', tag: 'price_book' } as const;

/** Prices of models. Rules: price-book.md, other-routes.md#records. */
export const priceBookOperations: Operation[] = [
  {
    ...common,
    name: 'findAllPriceEntries',
    method: 'get',
    path: '/price_book/entries',
    summary: 'List prices of language models',
    query: PriceEntriesQuery,
    answer: PriceEntryList,
    kind: 'read',
    run: listPriceEntries,
  },
  {
    ...common,
    name: 'addPriceEntries',
    method: 'post',
    path: '/price_book/entries',
    summary: 'Write prices of language models',
    description: 'A price holds for calls from its `from` on; calls that were billed stay as they are.',
    body: PriceEntriesInput,
    answer: PriceEntriesWritten,
    kind: 'command',
    run: addPriceEntries,
  },
  {
    ...common,
    name: 'retractPriceEntry',
    method: 'delete',
    path: '/price_book/entries/:svc_id',
    summary: 'Retract a price of a language model',
    answer: PriceEntryEnvelope,
    kind: 'command',
    run: retractPriceEntry,
  },
  {
    ...common,
    name: 'findAllPriceModels',
    method: 'get',
    path: '/price_book/models',
    summary: 'List language models that have prices',
    query: PriceModelsQuery,
    answer: PriceModelList,
    kind: 'read',
    run: listPriceModels,
  },
  {
    ...common,
    name: 'findPriceAliases',
    method: 'get',
    path: '/price_book/aliases',
    summary: 'List other names of language models',
    answer: AliasList,
    kind: 'read',
    run: showAliases,
  },
  {
    ...common,
    name: 'putPriceAliases',
    method: 'put',
    path: '/price_book/aliases',
    summary: 'Replace other names of language models',
    body: AliasesInput,
    answer: AliasList,
    kind: 'command',
    run: putAliases,
  },
  {
    ...common,
    name: 'importPrices',
    method: 'post',
    path: '/price_book/import',
    summary: 'Import a file of prices of language models',
    body: PriceImportBody,
    query: PriceImportQuery,
    bodyLimitBytes: FILE_MAX_BYTES,
    bodyShape: FILE_SHAPE,
    answer: PriceImport,
    kind: 'command',
    run: importPriceFile,
  },
  {
    ...common,
    name: 'resolvePrices',
    method: 'get',
    path: '/price_book/resolve',
    summary: 'Show which prices hold for a call of a language model',
    query: ResolveQuery,
    answer: Resolution,
    kind: 'read',
    run: resolvePriceBook,
  },
];
