import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { retryCorrection } from './commands.ts';
import { showAdjustments, showCorrection, showCorrections, showVersions } from './reads.ts';
import {
  AdjustmentList,
  AdjustmentListQuery,
  CorrectionCreate,
  CorrectionEnvelope,
  CorrectionList,
  CorrectionListQuery,
  VersionList,
  VersionsQuery,
} from './schema.ts';

const shared = { permission: 'event_correction', tag: 'events' } as const;

export const eventCorrectionOperations: Operation[] = [
  {
    ...shared,
    name: 'createEventCorrection',
    method: 'post',
    path: '/events/corrections',
    summary: 'Amend or retract stored events',
    description:
      'Invoiced amounts are made right by credit notes or on the next invoice. Poll it until its `status` is `settled`.',
    kind: 'command',
    root: 'correction',
    body: CorrectionCreate,
    answer: CorrectionEnvelope,
    run: runsAsFlow,
  },
  {
    ...shared,
    name: 'findAllEventCorrections',
    method: 'get',
    path: '/events/corrections',
    summary: 'List corrections of events',
    kind: 'read',
    query: CorrectionListQuery,
    answer: CorrectionList,
    run: showCorrections,
  },
  {
    ...shared,
    name: 'findEventCorrection',
    method: 'get',
    path: '/events/corrections/:svc_id',
    summary: 'Retrieve a correction of events',
    kind: 'read',
    answer: CorrectionEnvelope,
    run: showCorrection,
  },
  {
    ...shared,
    name: 'findAllEventCorrectionAdjustments',
    method: 'get',
    path: '/events/corrections/:svc_id/adjustments',
    summary: 'List what a correction means for issued invoices',
    kind: 'read',
    query: AdjustmentListQuery,
    answer: AdjustmentList,
    run: showAdjustments,
  },
  {
    ...shared,
    name: 'retryEventCorrection',
    method: 'post',
    path: '/events/corrections/:svc_id/retry',
    summary: 'Let a failed correction go on',
    kind: 'command',
    answer: CorrectionEnvelope,
    run: retryCorrection,
  },
  {
    ...shared,
    name: 'findEventVersions',
    method: 'get',
    path: '/events/:transaction_id/versions',
    summary: 'List what an event was, from its reception to now',
    kind: 'read',
    query: VersionsQuery,
    answer: VersionList,
    run: showVersions,
  },
];
