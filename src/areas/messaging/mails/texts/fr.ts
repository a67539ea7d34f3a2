import type { MailTexts } from './mail-texts.ts';

export const fr: MailTexts = {
  words: {
    invoice: {
      subject: 'Facture {number} de {seller} : {amount} à payer avant le {due_date}',
      intro: 'Votre facture {number} est jointe en PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Avoir {number} de {seller} : {amount}',
      intro: 'Votre avoir {number} est joint en PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Reçu {number} de {seller} : {amount}',
      intro: 'Merci pour votre paiement. Le reçu {number} est joint en PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Rappel : {amount} à régler à {seller}',
      intro: 'Cela vous a peut-être échappé : ces factures restent à régler.',
      closing: 'Si vous avez payé entre-temps, ne tenez pas compte de ce message.',
    },
    payment_request: {
      subject: '{seller} : {amount} à régler',
      intro: 'Ces factures de {seller} sont en retard :',
      closing: '',
    },
    payment_action: {
      subject: '{seller} : Confirmez votre paiement',
      intro: 'Ce paiement vous attend.',
      closing: '',
    },
    payment_failed: {
      subject: '{seller} : le paiement de {amount} a échoué',
      intro: 'La facture {number} n’a pas pu être prélevée. Vous pouvez la payer autrement.',
      closing: '',
    },
    portal_link: {
      subject: 'Votre lien vers vos pages chez {seller}',
      intro: 'Voici le nouveau lien vers vos factures, votre consommation et vos moyens de paiement.',
      closing: 'Si vous ne l’avez pas demandé, vous n’avez rien à faire.',
    },
    details_changed: {
      subject: 'Vos coordonnées de facturation chez {seller} ont changé',
      intro: 'L’adresse e-mail de vos factures a été modifiée sur vos pages. Cette adresse ne reçoit plus de factures.',
      closing: 'Si ce n’était pas vous, répondez à cet e-mail.',
    },
    wallet_low: {
      subject: '{seller} : il reste {amount} dans {wallet}',
      intro: 'Votre solde prépayé touche à sa fin.',
      closing: '',
    },
    top_up_failed: {
      subject: '{seller} : la recharge de {amount} a échoué',
      intro:
        'Votre recharge n’a pas pu être prélevée, aucun crédit n’a été ajouté. Vérifiez votre moyen de paiement ou payez autrement.',
      closing: '',
    },
    trial_ending: {
      subject: 'Votre essai chez {seller} se termine le {due_date}',
      intro:
        'Votre essai se termine bientôt. L’abonnement continue ensuite au tarif normal, sans démarche de votre part.',
      closing: 'Si vous ne souhaitez pas continuer, contactez-nous avant cette date.',
    },
    subscription_ending: {
      subject: 'Votre abonnement chez {seller} se termine le {due_date}',
      intro: 'Votre abonnement se termine bientôt. Rien ne change d’ici là.',
      closing: 'Si vous souhaitez continuer, contactez-nous.',
    },
    usage_alert: {
      subject: '{seller} : la consommation de {subscription} a atteint {limit}',
      intro: 'Votre consommation a atteint une limite pour laquelle vous vouliez être prévenu.',
      closing: '',
    },
    endpoint_disabled: {
      subject: 'Un point de terminaison webhook de {seller} a été désactivé',
      intro:
        'Plus rien n’est envoyé à ce point de terminaison. Les nouveaux événements ne sont pas conservés pour lui tant qu’il n’est pas réactivé.',
      closing: '',
    },
    key_created: {
      subject: 'Une nouvelle clé API de {seller}',
      intro: 'Une clé API a été créée. Qui la possède peut faire tout ce que ses droits permettent.',
      closing: 'Si vous n’en savez rien, supprimez la clé.',
    },
  },
  settled: 'Facture {number} de {seller}',
  firm: {
    subject: 'Toujours en retard : {amount} à régler à {seller}',
    intro: 'Malgré notre rappel, ces factures restent à régler. Merci de les payer maintenant.',
  },
  final: {
    subject: 'Dernier rappel : {amount} à régler à {seller}',
    intro: 'Ceci est le dernier rappel pour ces factures en retard. Merci de payer sans délai ou de nous contacter.',
  },
  overdueBy: 'en retard de {days}',
  pages: 'Voir vos factures et votre consommation',
  worksFor: 'Le lien fonctionne {hours} heures.',
  openPages: 'Ouvrir mes pages',
  keepLink: 'Le lien fonctionne {hours} heures. Qui le possède peut ouvrir vos pages : ne le transmettez pas.',
  notices: {
    lasts: 'suffit pour environ {days}',
    trialEnds: 'Fin de votre essai de {name}',
    subscriptionEnds: 'Fin de votre abonnement {name}',
    limit: 'Limite',
    endpoint: 'Adresse',
    reason: 'Raison',
    reasons: { failing: 'Tous les envois échouent depuis cinq jours', gone: 'Il a répondu qu’il n’existe plus (410)' },
    openWebhooks: 'Ouvrir les webhooks',
    name: 'Nom',
    lastFour: 'Se termine par',
    createdOn: 'Créée le',
    openKeys: 'Ouvrir les clés API',
  },
};
