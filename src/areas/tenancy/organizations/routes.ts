import type { Operation } from '../../../platform/operation.ts';
import { showOrganization } from './reads.ts';
import { OrganizationEnvelope, OrganizationUpdate } from './schema.ts';
import { showSettings, updateSettings } from './settings/commands.ts';
import { SettingsEnvelope, SettingsUpdate } from './settings/schema.ts';
import { updateOrganization } from './update-organization.ts';

const common = {
  permission: 'organization',
  tag: 'organizations',
  path: '/organizations',
  answer: OrganizationEnvelope,
} as const;

const settings = { ...common, path: '/organizations/settings', answer: SettingsEnvelope } as const;

const settingsUpdate = {
  ...settings,
  summary: "Update your organization's settings",
  root: 'settings',
  body: SettingsUpdate,
  kind: 'command',
  run: updateSettings,
} as const;

export const organizationOperations: Operation[] = [
  {
    ...common,
    name: 'findOrganization',
    method: 'get',
    summary: 'Retrieve your organization',
    kind: 'read',
    run: showOrganization,
  },
  {
    ...common,
    name: 'updateOrganization',
    method: 'put',
    summary: 'Update your organization',
    root: 'organization',
    body: OrganizationUpdate,
    kind: 'command',
    run: updateOrganization,
  },
  {
    ...settings,
    name: 'findOrganizationSettings',
    method: 'get',
    summary: "Retrieve your organization's settings",
    kind: 'read',
    run: showSettings,
  },
  { ...settingsUpdate, name: 'updateOrganizationSettings', method: 'put' },
  { ...settingsUpdate, name: 'patchOrganizationSettings', method: 'patch', hidden: true },
];
