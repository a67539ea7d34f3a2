import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { DocumentKind } from './queries.ts';

interface XmlSubject {
  alias: string;
  kind: DocumentKind;
  subjectType: 'Invoice' | 'CreditNote';
}

/**
 * Id of the electronic document of a row that an alias names, once it has been made: the one in the profile that was
 * chosen, else the one that `download_xml` makes where nobody chose.
 */
export const xmlDocument = (db: Db, { alias, kind, subjectType }: XmlSubject): Fragment => db`
  coalesce(
    (select document.id from e_documents document
     where document.organization_id = ${db(alias)}.organization_id and document.subject_type = ${subjectType}
       and document.subject_id = ${db(alias)}.id and document.kind = 'document' and document.is_chosen
       and document.status = 'ready'
     order by document.created_at, document.id limit 1),
    (select document.id from documents document
     where document.organization_id = ${db(alias)}.organization_id and document.kind = ${kind}
       and document.subject_id = ${db(alias)}.id and document.content is not null))`;
