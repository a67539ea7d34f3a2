import type { Db, Fragment } from '../../../platform/db/connect.ts';

interface XmlSubject {
  alias: string;
  subjectType: 'Invoice' | 'CreditNote';
}

/**
 * Id of the electronic document of a row that an alias names, once it has been made: the one in the profile that was
 * chosen, and where nobody chose one the one in UBL 2.1 under EN 16931. A chosen one that failed has no other in its
 * place.
 */
export const xmlDocument = (db: Db, { alias, subjectType }: XmlSubject): Fragment => db`
  (select case document.status when 'ready' then document.id end from e_documents document
   where document.organization_id = ${db(alias)}.organization_id and document.subject_type = ${subjectType}
     and document.subject_id = ${db(alias)}.id and document.kind = 'document'
     and (document.is_chosen or document.profile = 'en16931_ubl')
   order by document.is_chosen desc, document.created_at, document.id limit 1)`;
