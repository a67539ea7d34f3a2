import { z } from 'zod';
import type { Operation } from '../../../platform/operation.ts';
import { listMailTemplates, resetMailTemplate, showMailTemplate, updateMailTemplate } from './commands.ts';
import { previewMail, testMail } from './previews.ts';
import {
  MailPreviewEnvelope,
  MailTemplateEnvelope,
  MailTemplateList,
  MailTemplatePreview,
  MailTemplatesQuery,
  MailTemplateTest,
  MailTemplateUpdate,
} from './schema.ts';

const PATH = '/mail_templates/:name/:locale';
const common = { permission: 'mail', tag: 'mails' } as const;
const one = { ...common, path: PATH, query: MailTemplatesQuery, answer: MailTemplateEnvelope } as const;

const update = {
  ...one,
  summary: 'Say something in own words in a mail, in one language',
  kind: 'command',
  root: 'mail_template',
  body: MailTemplateUpdate,
  run: updateMailTemplate,
} as const;

/** What mails to customers say, and how they look. Rule: mails.md#texts-of-a-seller. */
export const mailTemplateOperations: Operation[] = [
  {
    ...common,
    name: 'findAllMailTemplates',
    method: 'get',
    path: '/mail_templates',
    summary: 'List the words of mails in all languages',
    query: MailTemplatesQuery,
    answer: MailTemplateList,
    kind: 'read',
    run: listMailTemplates,
  },
  {
    ...one,
    name: 'findMailTemplate',
    method: 'get',
    summary: 'Retrieve the words of a mail in one language',
    kind: 'read',
    run: showMailTemplate,
  },
  { ...update, name: 'updateMailTemplate', method: 'put' },
  { ...update, name: 'patchMailTemplate', method: 'patch', hidden: true },
  {
    ...one,
    name: 'resetMailTemplate',
    method: 'delete',
    summary: 'Go back to the built-in words of a mail in one language',
    kind: 'command',
    run: resetMailTemplate,
  },
  {
    ...common,
    name: 'previewMailTemplate',
    method: 'post',
    path: '/mail_templates/:name/preview',
    mode: 'read',
    summary: 'Show a mail as it would be sent',
    root: 'mail_template',
    body: MailTemplatePreview,
    answer: MailPreviewEnvelope,
    kind: 'read',
    ignoresIdempotencyKey: true,
    run: previewMail,
  },
  {
    ...common,
    name: 'testMailTemplate',
    method: 'post',
    path: '/mail_templates/:name/test',
    summary: 'Send a mail with an example to one address',
    root: 'mail_template',
    body: MailTemplateTest,
    answer: z.null(),
    kind: 'command',
    run: testMail,
  },
];
