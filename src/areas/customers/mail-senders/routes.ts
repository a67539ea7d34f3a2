import type { Operation } from '../../../platform/operation.ts';
import { showMailSender, updateMailSender, verifyMailSender } from './commands.ts';
import { MailSenderEnvelope, MailSenderUpdate, MailSenderVerification } from './schema.ts';

const PATH = '/billing_entities/:code/mail_sender';
const common = { permission: 'mail', tag: 'mails', answer: MailSenderEnvelope } as const;

const update = {
  ...common,
  path: PATH,
  summary: 'Choose from whom its mails come',
  kind: 'command',
  root: 'mail_sender',
  body: MailSenderUpdate,
  run: updateMailSender,
} as const;

/** From whom mails come, one sender a billing entity. Rule: mails.md#senders. */
export const mailSenderOperations: Operation[] = [
  {
    ...common,
    name: 'findMailSender',
    method: 'get',
    path: PATH,
    summary: 'Retrieve from whom its mails come',
    kind: 'read',
    run: showMailSender,
  },
  { ...update, name: 'updateMailSender', method: 'put' },
  { ...update, name: 'patchMailSender', method: 'patch', hidden: true },
  {
    ...common,
    name: 'verifyMailSender',
    method: 'post',
    path: `${PATH}/verify`,
    summary: 'Tell the code that was mailed to its address',
    kind: 'command',
    root: 'mail_sender',
    body: MailSenderVerification,
    run: verifyMailSender,
  },
];
