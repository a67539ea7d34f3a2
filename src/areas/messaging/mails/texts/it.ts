import type { MailTexts } from './mail-texts.ts';

export const it: MailTexts = {
  words: {
    invoice: {
      subject: 'Fattura {number} di {seller}: {amount}, scadenza {due_date}',
      intro: 'La sua fattura {number} è allegata in PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Nota di credito {number} di {seller}: {amount}',
      intro: 'La sua nota di credito {number} è allegata in PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Ricevuta {number} di {seller}: {amount}',
      intro: 'Grazie per il pagamento. La ricevuta {number} è allegata in PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Promemoria: {amount} scaduti con {seller}',
      intro: 'Forse le è sfuggito: queste fatture sono ancora aperte.',
      closing: 'Se nel frattempo ha pagato, ignori questo messaggio.',
    },
    payment_request: {
      subject: '{seller}: {amount} da pagare',
      intro: 'Queste fatture di {seller} sono scadute:',
      closing: '',
    },
    payment_action: { subject: '{seller}: Confermi il pagamento', intro: 'Questo pagamento la attende.', closing: '' },
    payment_failed: {
      subject: '{seller}: pagamento di {amount} non riuscito',
      intro: 'Non è stato possibile addebitare la fattura {number}. Può pagarla in un altro modo.',
      closing: '',
    },
    portal_link: {
      subject: 'Il link alle sue pagine presso {seller}',
      intro: 'Ecco il nuovo link alle sue fatture, al consumo e ai metodi di pagamento.',
      closing: 'Se non l’ha chiesto, non deve fare niente.',
    },
    details_changed: {
      subject: 'I suoi dati di fatturazione presso {seller} sono cambiati',
      intro: 'L’e-mail per le fatture è stata cambiata nelle sue pagine. Questo indirizzo non riceve più fatture.',
      closing: 'Se non è stato lei, risponda a questa e-mail.',
    },
    wallet_low: {
      subject: '{seller}: restano {amount} in {wallet}',
      intro: 'Il suo saldo prepagato sta per esaurirsi.',
      closing: '',
    },
    top_up_failed: {
      subject: '{seller}: ricarica di {amount} non riuscita',
      intro:
        'Non è stato possibile addebitare la ricarica e nessun credito è stato aggiunto. Controlli il metodo di pagamento o paghi in un altro modo.',
      closing: '',
    },
    trial_ending: {
      subject: 'La sua prova presso {seller} termina il {due_date}',
      intro: 'La sua prova sta per terminare. Poi l’abbonamento prosegue a pagamento, senza che lei debba fare nulla.',
      closing: 'Se non desidera proseguire, ci contatti prima di quella data.',
    },
    subscription_ending: {
      subject: 'Il suo abbonamento presso {seller} termina il {due_date}',
      intro: 'Il suo abbonamento sta per terminare. Fino ad allora non cambia nulla.',
      closing: 'Se desidera proseguire, ci contatti.',
    },
    usage_alert: {
      subject: '{seller}: il consumo di {subscription} ha raggiunto {limit}',
      intro: 'Il suo consumo ha raggiunto un limite per il quale desiderava un avviso.',
      closing: '',
    },
    endpoint_disabled: {
      subject: 'Un endpoint webhook di {seller} è stato disattivato',
      intro:
        'A questo endpoint non viene più inviato nulla. I nuovi eventi non vengono conservati finché non viene riattivato.',
      closing: '',
    },
    key_created: {
      subject: 'Una nuova chiave API di {seller}',
      intro: 'È stata creata una chiave API. Chi la possiede può fare ciò che i suoi permessi consentono.',
      closing: 'Se non ne sa nulla, elimini la chiave.',
    },
  },
  settled: 'Fattura {number} di {seller}',
  firm: {
    subject: 'Ancora scaduti: {amount} con {seller}',
    intro: 'Nonostante il nostro promemoria, queste fatture sono ancora aperte. La preghiamo di pagarle ora.',
  },
  final: {
    subject: 'Ultimo promemoria: {amount} scaduti con {seller}',
    intro: 'Questo è l’ultimo promemoria per queste fatture scadute. La preghiamo di pagare subito o di contattarci.',
  },
  overdueBy: 'in ritardo di {days}',
  pages: 'Vedi fatture e consumo',
  worksFor: 'Il link funziona per {hours} ore.',
  openPages: 'Apri le mie pagine',
  keepLink: 'Il link funziona per {hours} ore. Chi lo possiede può aprire le sue pagine: non lo inoltri.',
  notices: {
    lasts: 'basta per circa {days}',
    trialEnds: 'Fine della sua prova di {name}',
    subscriptionEnds: 'Fine del suo abbonamento {name}',
    limit: 'Limite',
    endpoint: 'Endpoint',
    reason: 'Motivo',
    reasons: {
      failing: 'Tutte le consegne falliscono da cinque giorni',
      gone: 'Ha risposto di non esistere più (410)',
    },
    openWebhooks: 'Apri i webhook',
    name: 'Nome',
    lastFour: 'Termina con',
    createdOn: 'Creata il',
    openKeys: 'Apri le chiavi API',
  },
};
