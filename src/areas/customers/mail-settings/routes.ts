import type { Operation } from '../../../platform/operation.ts';
import { showMailSettings, updateMailSettings } from './commands.ts';
import { MailSettingsEnvelope, MailSettingsUpdate } from './schema.ts';

const common = {
  permission: 'mail',
  tag: 'mails',
  path: '/billing_entities/:code/mail_settings',
  answer: MailSettingsEnvelope,
} as const;

const update = {
  ...common,
  summary: 'Choose which mails its customers get',
  kind: 'command',
  root: 'mail_settings',
  body: MailSettingsUpdate,
  run: updateMailSettings,
} as const;

/** Which mails are sent, one choice a billing entity. Rule: mails.md#settings. */
export const mailSettingsOperations: Operation[] = [
  {
    ...common,
    name: 'findMailSettings',
    method: 'get',
    summary: 'Retrieve which mails its customers get',
    kind: 'read',
    run: showMailSettings,
  },
  { ...update, name: 'updateMailSettings', method: 'put' },
  { ...update, name: 'patchMailSettings', method: 'patch', hidden: true },
];
