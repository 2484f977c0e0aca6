// An ordinary webhook in Go, to compare with: net/http, encoding/json and the types of k8s.io/api,
// and for the plain case the same rewrite as ours. It looks nothing up and makes no template.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	admission "k8s.io/api/admission/v1"
	core "k8s.io/api/core/v1"
)

const (
	gpu      = "nvidia.com/gpu"
	gpuPath  = "nvidia.com~1gpu"
	claim    = "llmfit"
	maxBytes = 4 << 20
)

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

func rewrite(pod *core.Pod, template string) []operation {
	var patch []operation
	for i, container := range pod.Spec.Containers {
		if _, limited := container.Resources.Limits[gpu]; !limited {
			continue
		}
		at := fmt.Sprintf("/spec/containers/%d/resources", i)
		patch = append(patch, operation{Op: "remove", Path: at + "/limits/" + gpuPath})
		if _, requested := container.Resources.Requests[gpu]; requested {
			patch = append(patch, operation{Op: "remove", Path: at + "/requests/" + gpuPath})
		}
		patch = append(patch, operation{"add", at + "/claims", []core.ResourceClaim{{Name: claim}}})
	}
	if len(patch) == 0 {
		return nil
	}
	name := template
	claims := []core.PodResourceClaim{{Name: claim, ResourceClaimTemplateName: &name}}
	toleration := core.Toleration{Key: gpu, Operator: core.TolerationOpExists, Effect: core.TaintEffectNoSchedule}
	patch = append(patch, operation{"add", "/spec/resourceClaims", claims})
	if pod.Spec.Tolerations == nil {
		return append(patch, operation{"add", "/spec/tolerations", []core.Toleration{toleration}})
	}
	return append(patch, operation{"add", "/spec/tolerations/-", toleration})
}

func answer(request *admission.AdmissionRequest, template string) (*admission.AdmissionResponse, error) {
	var pod core.Pod
	if err := json.Unmarshal(request.Object.Raw, &pod); err != nil {
		return nil, err
	}
	response := &admission.AdmissionResponse{UID: request.UID, Allowed: true}
	if operations := rewrite(&pod, template); operations != nil {
		patch, err := json.Marshal(operations)
		if err != nil {
			return nil, err
		}
		kind := admission.PatchTypeJSONPatch
		response.Patch, response.PatchType = patch, &kind
	}
	return response, nil
}

func mutate(template string) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, maxBytes))
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		var review admission.AdmissionReview
		if err := json.Unmarshal(body, &review); err != nil || review.Request == nil {
			http.Error(writer, "no AdmissionReview", http.StatusBadRequest)
			return
		}
		response, err := answer(review.Request, template)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		review.Request, review.Response = nil, response
		said, err := json.Marshal(review)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusInternalServerError)
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		_, _ = writer.Write(said)
	}
}

func main() {
	certificate := flag.String("cert", "", "certificate in PEM")
	key := flag.String("key", "", "its key in PEM")
	template := flag.String("template", "llmfit-webhook-0123456789ab", "name that pods refer to")
	flag.Parse()
	http.HandleFunc("/mutate", mutate(*template))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.ServeTLS(listener, nil, *certificate, *key))
}
