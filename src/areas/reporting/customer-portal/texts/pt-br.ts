import type { PortalTexts } from './portal-texts.ts';

export const ptBr: PortalTexts = {
  title: 'Faturamento',
  balance: 'Saldo',
  due: 'A pagar',
  overdue: 'Vencido',
  subscriptions: 'Assinaturas',
  states: {
    active: 'Ativa',
    pending: 'Começa mais tarde',
    incomplete: 'Aguardando pagamento',
    terminated: 'Encerrada',
  },
  nextBilling: 'Próxima cobrança em {date}',
  startsOn: 'Começa em {date}',
  endsOn: 'Termina em {date}',
  endedOn: 'Encerrada em {date}',
  usage: 'Consumo atual',
  usageUnknown: 'O consumo não pode ser exibido no momento.',
  credits: '{credits} créditos',
  afterUsage: '{amount} após o consumo atual',
  expiresOn: 'Expira em {date}',
  invoices: 'Faturas',
  receipts: 'Recibos de pagamento',
  payment: {
    paid: 'Paga',
    settled: 'Liquidada',
    underWay: 'Pagamento em andamento',
    partlyPaid: 'Paga em parte',
    overdue: 'Vencida',
    failed: 'Pagamento recusado',
    open: 'Em aberto',
  },
  pay: 'Pagar',
  download: 'Baixar PDF',
  left: 'Restam {amount}',
  nothing: 'Ainda não há nada aqui.',
  newer: 'Mais recentes',
  older: 'Mais antigos',
  back: 'Voltar ao resumo',
  notices: {
    preparing: {
      title: 'Seu documento está sendo preparado',
      text: 'Esta página o carregará sozinha em alguns segundos.',
    },
    unauthorized: {
      title: 'Este link não é mais válido',
      text: 'Peça um novo link ao seu fornecedor.',
    },
    notFound: {
      title: 'Esta página não existe',
      text: 'O que você procura não está aqui.',
    },
    tooMany: {
      title: 'Solicitações demais',
      text: 'Aguarde um momento e recarregue a página.',
    },
    failed: {
      title: 'Algo deu errado',
      text: 'Tente novamente em alguns minutos.',
    },
  },
};
