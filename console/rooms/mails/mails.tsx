import { route, to } from '../../frame/route.ts';
import { organization } from '../../frame/session.ts';
import { Page, Tabs } from '../../parts/page.tsx';
import { t } from '../../texts/en.ts';
import { Log } from './log.tsx';
import { MailPage } from './mail.tsx';
import { Senders } from './senders.tsx';
import { TemplatePage } from './template.tsx';
import { Templates } from './templates.tsx';

const words = t.mails;

const PARTS = { log: Log, templates: Templates, senders: Senders } as const;

/** Did the mail go, what does it say, and who does it come from? */
export default function Mails() {
  const { id, tab } = route.value;
  if (id === 'templates' && tab !== undefined) return <TemplatePage key={tab} name={tab} />;
  const open = id ?? 'log';
  if (open !== 'log' && open !== 'templates' && open !== 'senders') return <MailPage key={open} id={open} />;
  const Content = PARTS[open];
  return (
    <Page title={words.title} under={organization.value?.sandbox ? words.sandbox : words.under}>
      <Tabs
        open={open}
        of={[
          { name: 'log', text: words.log, href: to('mails') },
          { name: 'templates', text: words.templates, href: to('mails', 'templates') },
          { name: 'senders', text: words.senders, href: to('mails', 'senders') },
        ]}
      />
      <Content />
    </Page>
  );
}
