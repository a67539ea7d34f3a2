/** Languages in which documents, mails and the pages of customers are written. Rule: json.md "locales". */
export const DOCUMENT_LANGUAGES = ['de', 'en', 'es', 'fr', 'it', 'nb', 'pt-BR', 'sv', 'zh-TW'] as const;
