import type { Operation } from '../../../platform/operation.ts';
import { CloudEventBody, CloudEventsBody, CreateEventQuery, CreateEventsQuery } from '../events/schema.ts';
import { setUp, updateSubjects } from './commands.ts';
import { previewCall, showCall, showFormats, showSubjects } from './reads.ts';
import {
  AiUsageBody,
  AiUsageEnvelope,
  AiUsagesBody,
  CallQuery,
  CreatedUsage,
  CreatedUsages,
  FormatList,
  LogRecordsAnswer,
  PreviewedUsage,
  RecordsResults,
  SetupEnvelope,
  SetupInput,
  SpansAnswer,
  SubjectList,
  SubjectListQuery,
  SubjectsEnvelope,
  SubjectsUpdate,
} from './schema.ts';
import { storeUsageInCommand } from './store-usage.ts';

const shared = { permission: 'event', tag: 'ai_usage' } as const;
/** One body of 256 KiB with what stands beside it; a batch as one of events. */
const SINGLE_LIMIT_BYTES = 512 * 1024;
const BATCH_LIMIT_BYTES = 5 * 1024 * 1024;
const lane = { ...shared, method: 'post', kind: 'events', category: 'events', holdsUsage: true } as const;
/** Records of other programs; each names itself, so a repetition is a replay without an Idempotency-Key. */
const records = { ...lane, ignoresIdempotencyKey: true, query: CreateEventQuery, run: neverACommand } as const;

function neverACommand(): Promise<never> {
  return Promise.reject(new Error('records travel in the events lane only'));
}

export const aiUsageOperations: Operation[] = [
  {
    ...lane,
    name: 'createAiUsage',
    path: '/ai/usage',
    summary: 'Send what a call of a model used, as its provider reported it',
    description:
      'The body is the answer of the provider as it came, a stream too. Prompts and answers are kept nowhere.',
    bodyLimitBytes: SINGLE_LIMIT_BYTES,
    query: CreateEventQuery,
    body: AiUsageBody,
    cloudEvents: { isList: false, body: CloudEventBody },
    answer: CreatedUsage,
    run: storeUsageInCommand,
  },
  {
    ...lane,
    name: 'createAiUsageBatch',
    path: '/ai/usage/batch',
    summary: 'Send up to 100 calls of models, all or nothing, or each for itself with mode=tolerant',
    bodyLimitBytes: BATCH_LIMIT_BYTES,
    query: CreateEventsQuery,
    body: AiUsagesBody,
    cloudEvents: { isList: true, body: CloudEventsBody },
    answer: CreatedUsages,
    run: storeUsageInCommand,
  },
  {
    ...records,
    name: 'createLitellmUsage',
    path: '/ai/usage/litellm',
    summary: 'Send what a LiteLLM gateway logged: a list, one payload, or one a line, at most 1 000',
    readsOwnBody: {
      contentType: 'application/json',
      description: 'Payloads of LiteLLM without a root; one a line also as `application/x-ndjson`; gzip is unpacked',
    },
    readsRecords: 'gateway',
    answer: RecordsResults,
  },
  {
    ...records,
    name: 'createOtlpTraces',
    path: '/otlp/v1/traces',
    summary: 'Send spans by an OTLP exporter: those that are calls of models are stored',
    readsOwnBody: { contentType: 'application/json', description: 'A request of OTLP in JSON; gzip is unpacked' },
    readsRecords: 'traces',
    errorsAsOtlp: true,
    answer: SpansAnswer,
  },
  {
    ...records,
    name: 'createOtlpLogs',
    path: '/otlp/v1/logs',
    summary: 'Send log records by an OTLP exporter: those that are calls of models are stored',
    readsOwnBody: { contentType: 'application/json', description: 'A request of OTLP in JSON; gzip is unpacked' },
    readsRecords: 'logs',
    errorsAsOtlp: true,
    answer: LogRecordsAnswer,
  },
  {
    ...shared,
    name: 'previewAiUsage',
    bodyLimitBytes: SINGLE_LIMIT_BYTES,
    method: 'post',
    path: '/ai/usage/preview',
    summary: 'Show what would be stored of a call of a model',
    kind: 'read',
    category: 'events',
    ignoresIdempotencyKey: true,
    fresh: true,
    root: 'ai_usage',
    body: PreviewedUsage,
    documentedBody: AiUsageBody,
    answer: AiUsageEnvelope,
    run: previewCall,
  },
  {
    ...shared,
    name: 'findAiUsage',
    method: 'get',
    path: '/ai/usage/:transaction_id',
    summary: 'Retrieve a call of a model',
    kind: 'read',
    query: CallQuery,
    answer: AiUsageEnvelope,
    run: showCall,
  },
  {
    ...shared,
    name: 'findAiFormats',
    method: 'get',
    path: '/ai/formats',
    summary: 'List the formats in which usage of models is read',
    kind: 'read',
    answer: FormatList,
    run: showFormats,
  },
  {
    ...shared,
    name: 'findAiSubjects',
    method: 'get',
    path: '/ai/subjects',
    summary: 'List to which subscriptions usage of models belongs',
    kind: 'read',
    query: SubjectListQuery,
    answer: SubjectList,
    run: showSubjects,
  },
  {
    ...shared,
    name: 'updateAiSubjects',
    method: 'put',
    path: '/ai/subjects',
    summary: 'Say to which subscriptions usage of models belongs',
    kind: 'command',
    body: SubjectsUpdate,
    answer: SubjectsEnvelope,
    run: updateSubjects,
  },
  {
    name: 'setUpAi',
    method: 'post',
    path: '/ai/setup',
    permission: 'billable_metric',
    tag: 'ai_usage',
    summary: 'Make the metric of calls of models',
    kind: 'command',
    body: SetupInput,
    bodyOptional: true,
    answer: SetupEnvelope,
    run: setUp,
  },
];
