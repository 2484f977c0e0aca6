// Command controlplane is one program that is five: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and kubectl, each exactly as its own
// project builds it. One link step and one file instead of five keeps the first
// build and the cache small.
//
// The part to run is the name the program was called by (a symbolic link named
// kubectl runs kubectl), or else the first argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	_ "time/tzdata" // time zones of CronJobs, as in the upstream main packages

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's login plugins
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go's metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// parts maps a name to the main function of that program. Each reads os.Args.
var parts = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          serve(apiserver.NewAPIServerCommand),
	"kube-controller-manager": serve(controllermanager.NewControllerManagerCommand),
	"kube-scheduler": serve(func() *cobra.Command {
		return scheduler.NewSchedulerCommand()
	}),
	"kubectl": runKubectl,
}

func serve(newCommand func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(newCommand())) }
}

func runKubectl() {
	// The verbosity has to be known before the command is built, because plugins
	// and the kuberc file are looked at while it is.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}

func main() {
	if run, known := parts[filepath.Base(os.Args[0])]; known {
		run()
		return
	}
	if len(os.Args) > 1 {
		if run, known := parts[os.Args[1]]; known {
			os.Args = os.Args[1:]
			run()
			return
		}
	}
	names := make([]string, 0, len(parts))
	for name := range parts {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Fprintf(os.Stderr, "usage: %s PART [FLAGS]\nparts: %s\n", os.Args[0], strings.Join(names, ", "))
	os.Exit(2)
}
