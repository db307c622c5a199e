{{- define "wardmote.labels" -}}
{app.kubernetes.io/name: wardmote}
{{- end }}
{{- define "wardmote.network" -}}
{{- if not (has .Values.network (list "kube-ovn" "calico")) }}
{{- fail (printf "network %q: kube-ovn or calico" .Values.network) }}
{{- end }}
{{- .Values.network }}
{{- end }}
