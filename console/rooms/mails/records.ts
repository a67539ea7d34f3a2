import { route } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';

export interface Mail {
  svc_id: string;
  template: string | null;
  locale: string | null;
  status: string;
  document_type: 'invoice' | 'credit_note' | 'payment_receipt' | null;
  svc_document_subject_id: string | null;
  subject: string;
  external_customer_id: string | null;
  resource_type: string | null;
  svc_resource_id: string | null;
  attempts: number;
  error: string | null;
  next_attempt_at: string | null;
  sent_at: string | null;
  created_at: string;
  recipients: { address: string; kind: string; state: string; error: string | null }[];
}

export interface WholeMail extends Mail {
  html: string | null;
  text: string;
  attachments: { file_name: string; bytes: number }[];
}

export interface Words<Text> {
  subject: Text;
  intro: Text;
  closing: Text;
}

export interface Template {
  name: string;
  locale: string;
  placeholders: string[];
  built_in: Words<string>;
  overridden: Words<string | null> | null;
}

interface Entity {
  code: string;
  name: string;
  legal_name: string | null;
  is_default: boolean;
}

/** The billing entity of the address, else the default one; undefined until it is known, or if the key may not read. */
export function useEntity(): { entities: readonly Entity[]; code: string | undefined } {
  const { data } = useRead<{ billing_entities: Entity[] }>(can('billing_entity') ? '/billing_entities' : null);
  const entities = data?.billing_entities ?? [];
  const asked = route.value.query.get('entity');
  const chosen = entities.find(({ code }) => code === asked) ?? entities.find(({ is_default }) => is_default);
  return { entities, code: chosen?.code };
}

export const entityName = ({ legal_name, name }: Entity): string => legal_name || name;

/** Whose words are meant, as a filter of the API. */
export const byEntity = (code: string | undefined) => ({ billing_entity_code: code });
