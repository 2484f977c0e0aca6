// Only marks the module's root: every command names one of the v*.mod files beside
// it with -modfile, one for each Kubernetes version.
module kubectl-llmfit/tests/controlplane

go 1.24
