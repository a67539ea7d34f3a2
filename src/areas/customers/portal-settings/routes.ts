import type { Operation } from '../../../platform/operation.ts';
import { showPortalSettings, updatePortalSettings } from './commands.ts';
import { PortalSettingsEnvelope, PortalSettingsUpdate } from './schema.ts';

const common = {
  permission: 'billing_entity',
  tag: 'billing_entities',
  path: '/billing_entities/:code/portal',
  answer: PortalSettingsEnvelope,
} as const;

const update = {
  ...common,
  summary: 'Choose how the pages of its customers look and what they may do',
  kind: 'command',
  root: 'portal',
  body: PortalSettingsUpdate,
  run: updatePortalSettings,
} as const;

/** Settings of the customer portal, one set a billing entity. Rule: portal.md#settings. */
export const portalSettingsOperations: Operation[] = [
  {
    ...common,
    name: 'findPortalSettings',
    method: 'get',
    summary: 'Retrieve how the pages of its customers look and what they may do',
    kind: 'read',
    run: showPortalSettings,
  },
  { ...update, name: 'updatePortalSettings', method: 'put' },
  { ...update, name: 'patchPortalSettings', method: 'patch', hidden: true },
];
