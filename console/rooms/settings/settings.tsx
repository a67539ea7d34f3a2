import type { ComponentType } from 'preact';
import { route, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { Page, Tabs } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { Senders } from '../mails/senders.tsx';
import { BillingEntities } from './billing-entities.tsx';
import { EntityPage } from './entity.tsx';
import { OrganizationSettings } from './organization.tsx';
import { PortalSettings } from './portal.tsx';
import { Providers } from './providers.tsx';
import { Retention } from './retention.tsx';
import { CustomSections } from './sections.tsx';
import { Taxes } from './taxes.tsx';
import { WebhookKeys } from './webhook-keys.tsx';

const words = t.settings;

interface Part {
  name: string;
  text: string;
  needs: string;
  Content: ComponentType;
}

const PARTS: readonly Part[] = [
  { name: 'organization', text: words.organization, needs: 'organization', Content: OrganizationSettings },
  { name: 'entities', text: words.entities, needs: 'billing_entity', Content: BillingEntities },
  { name: 'taxes', text: words.taxes, needs: 'tax', Content: Taxes },
  { name: 'sections', text: words.sections, needs: 'invoice_custom_section', Content: CustomSections },
  { name: 'providers', text: words.providers, needs: 'payment_provider', Content: Providers },
  { name: 'portal', text: words.portal, needs: 'billing_entity', Content: PortalSettings },
  { name: 'mails', text: words.mails, needs: 'mail', Content: Senders },
  { name: 'retention', text: words.retention, needs: 'retention', Content: Retention },
  { name: 'webhook-keys', text: words.webhookKeysTab, needs: 'webhook_jwt_public_key', Content: WebhookKeys },
];

/** Who are we? */
export default function Settings() {
  const { id, tab } = route.value;
  const parts = PARTS.filter(({ needs }) => can(needs));
  const open = parts.find(({ name }) => name === id) ?? (id === undefined ? parts[0] : undefined);
  if (open?.name === 'entities' && tab !== undefined) return <EntityPage key={tab} code={tab} />;
  return (
    <Page title={words.title} under={words.under}>
      <Tabs open={open?.name ?? ''} of={parts.map(({ name, text }) => ({ name, text, href: to('settings', name) }))} />
      {open ? <open.Content /> : <Empty title={words.noSuch} />}
    </Page>
  );
}
